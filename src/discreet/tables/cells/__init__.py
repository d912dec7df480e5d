"""What a cell means, whatever holds it."""
