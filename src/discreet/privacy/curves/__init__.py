"""f-DP: tradeoff functions, their families and their compositions."""
