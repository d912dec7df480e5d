"""A fitted linear model as a value: what it says, what it predicts, its file."""
