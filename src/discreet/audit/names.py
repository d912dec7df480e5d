"""Names of mechanisms are any text; here is how they are written on a line, in a plot, and on a page."""

from __future__ import annotations

import re
from typing import Any

from discreet.errors import InvalidType

_LONGEST_TITLE = 60


def check_name(name: Any) -> str:
    """Return the name of a mechanism, any text at all.

    Raises
    ------
    InvalidType
        If it is no text.
    """
    if isinstance(name, str):
        return str(name)
    raise InvalidType(f"`name` must be text; found {type(name).__name__}. Give the mechanism's name in quotes.")


def on_a_line(name: str) -> str:
    r"""Return a name as it is printed: one line, in which no terminal sees a command.

    Control characters, line ends, marks that turn the direction of writing and halves of surrogate pairs are written
    as Python writes them in a text; a name without a visible character becomes "unnamed".

    Examples
    --------
    >>> print(on_a_line("a\x1b[31m\nb"))
    a\x1b[31m\nb
    """
    shown = "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in name)
    return shown if shown.strip() else "unnamed"


def in_a_plot(name: str) -> str:
    """Return a name as it is drawn: on a line, and cut where it is too long for a square.

    It is drawn as it stands, so that the text object must not parse mathematics.
    """
    shown = on_a_line(name)
    return shown if len(shown) <= _LONGEST_TITLE else shown[: _LONGEST_TITLE - 3] + "..."


def in_a_file(name: str) -> str:
    """Return a name as a file of UTF-8 holds it: halves of surrogate pairs are written as Python writes them."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def on_a_page(name: str) -> str:
    """Return a name as Markdown and HTML show it in a cell of a table, without markup of its own.

    Examples
    --------
    >>> on_a_page("<b>a|b</b>")
    '&lt;b&gt;a&#124;b&lt;/b&gt;'
    """
    import html

    shown = html.escape(on_a_line(name), quote=False)
    return re.sub(r"[|*_`\\\[\]~$]", lambda sign: f"&#{ord(sign[0])};", shown)
