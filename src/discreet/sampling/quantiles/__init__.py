"""Quantiles and quantile regressions, drawn from grids."""
