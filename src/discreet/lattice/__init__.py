"""Exact arithmetic: public grids, secret coins, and noise that is the ideal law, rounded."""
