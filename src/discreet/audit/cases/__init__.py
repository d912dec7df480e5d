"""Every mechanism with its worst neighbors, one file a family."""
