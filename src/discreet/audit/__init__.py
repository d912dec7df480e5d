"""Do not trust, test: an instrument that convicts mechanisms which give away more than they claim."""
