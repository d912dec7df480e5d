"""How the command reads numbers: plain decimals, as everywhere; no underscores, no digits of other scripts."""

from __future__ import annotations

from typing import Any

import typer

from discreet import _checks


def whole(text: Any) -> int:
    """Return the whole number that the text of an option is."""
    number = _checks.rational(str(text))
    if number is not None and number.denominator == 1 and "/" not in str(text) and abs(number) < 2**63:
        return int(number)
    raise typer.BadParameter("must be a whole number in plain digits 0 to 9, such as 1000, below 2**63.")


def count(text: Any) -> int:
    """Return the whole number, at least 1, that the text of an option is."""
    number = whole(text)
    if number >= 1:
        return number
    raise typer.BadParameter("must be at least 1.")


def real(text: Any) -> float:
    """Return the number next to what the text of an option is."""
    number = _checks.float_of(str(text))
    if number is not None:
        return number
    raise typer.BadParameter("must be a finite number in plain digits 0 to 9, such as 0.5 or 1e-6.")


def reals(texts: str) -> list[float]:
    """Return the numbers of a list such as 0,120; empty where one of them is none."""
    numbers = [_checks.float_of(text) for text in texts.split(",")]
    known = [number for number in numbers if number is not None]
    return known if len(known) == len(numbers) else []
