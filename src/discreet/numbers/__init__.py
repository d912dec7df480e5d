"""Certified arithmetic: numbers rounded to the safe side."""
