"""Pillar two: noisy gradient steps, hard-thresholded where there are far more columns than rows."""
