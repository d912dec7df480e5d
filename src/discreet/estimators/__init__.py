"""The scikit-learn surface of the three pillars."""
