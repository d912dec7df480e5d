"""Case is folded by one function, where spellings are declared and where cells are read."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_SIGMA, _FINAL_SIGMA = "\N{GREEK SMALL LETTER SIGMA}", "\N{GREEK SMALL LETTER FINAL SIGMA}"


def folded(texts: Any) -> Any:
    """Return Arrow texts without case and without blanks at their ends; a final sigma is a sigma."""
    return pc.replace_substring(pc.utf8_lower(pc.utf8_trim_whitespace(texts)), _FINAL_SIGMA, _SIGMA)


def folded_text(text: str) -> str:
    """Return what `folded` makes of one text, which has no lone surrogates."""
    return str(folded(pa.array([text], pa.large_string()))[0].as_py())
