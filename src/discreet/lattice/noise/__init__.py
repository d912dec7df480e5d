"""Rounded mechanisms, one file a law: each takes the exact statistic and returns the released integers."""
