"""Pillar one: noise on the coefficients of the objective, then minimise."""
