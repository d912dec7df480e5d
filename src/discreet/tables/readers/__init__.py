"""Where private rows are read from: files, frames and Arrow data."""
