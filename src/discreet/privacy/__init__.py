"""What a guarantee is, and who pays."""
