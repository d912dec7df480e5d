"""M-estimators drawn by the norm of their gradient."""
