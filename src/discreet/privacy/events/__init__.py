"""What a release does: enough to price it and to repeat it, one file a family."""
