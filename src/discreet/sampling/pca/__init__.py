"""Directions: private principal components."""
