"""Pillar three: exact draws from private laws, whose running time tells nothing."""
