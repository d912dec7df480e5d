"""Rows of arrays in blocks of a size that a test chooses."""


class InBlocks:
    """Rows whose blocks have so many records."""

    def __init__(self, rows, block_rows):
        self._rows = rows
        self._block_rows = block_rows

    def blocks(self, layout):
        """Yield them."""
        return self._rows.blocks(layout, block_rows=self._block_rows)
