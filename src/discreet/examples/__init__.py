"""Public example data that ship with the package."""
