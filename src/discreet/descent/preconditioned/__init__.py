"""Descent whose steps are whitened by a noisy Gram matrix."""
