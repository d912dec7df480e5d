"""A page by which a budget is chosen: forecast standard errors against the budget and the number of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.report.figures import lines_svg
from discreet.report.page import markup, template

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# More lines than this are not drawn; the tables have them all.
MOST_LINES = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlook:
    """Forecast standard errors over one public number.

    Parameters
    ----------
    axis : str
        What is varied, such as "epsilon".
    at : sequence of float
        Its values, rising.
    standard_errors : mapping of str to sequence of float
        By coefficient, one a value.
    noise_shares : sequence of float
        The largest share of a variance that is privacy noise, one a value.
    valid : sequence of bool
        Whether intervals are expected to be valid, one a value.
    """

    axis: str
    at: Sequence[float]
    standard_errors: Mapping[str, Sequence[float]]
    noise_shares: Sequence[float]
    valid: Sequence[bool]


def planning_html(title: str, text: str, outlooks: Sequence[Outlook]) -> str:
    """Return the page as a text.

    Parameters
    ----------
    title : str
        Such as the formula.
    text : str
        The forecast at the asked budget, as it is printed.
    outlooks : sequence of Outlook
        A figure and a table each.

    Guarantee
    ---------
    A forecast reads no row and spends nothing.
    """
    return str(
        template("planning.html.jinja").render(
            title=title, text=text, outlooks=[_part(number, one) for number, one in enumerate(outlooks, 1)]
        )
    )


def _part(number: int, outlook: Outlook) -> dict[str, Any]:
    drawn = dict(list(outlook.standard_errors.items())[:MOST_LINES])
    figure = lines_svg(
        outlook.at,
        drawn,
        labels=(outlook.axis, "forecast standard error"),
        alternative=f"Forecast standard errors against {outlook.axis}; the same numbers as in the table.",
    )
    rows = [
        {
            "at": f"{value:g}",
            "errors": [f"{errors[place]:.3g}" for errors in outlook.standard_errors.values()],
            "share": f"{100 * outlook.noise_shares[place]:.0f} %",
            "valid": "valid" if outlook.valid[place] else "not valid: noise-dominated",
        }
        for place, value in enumerate(outlook.at)
    ]
    return {
        "number": number,
        "axis": outlook.axis,
        "names": list(outlook.standard_errors),
        "figure": markup(figure),
        "rows": rows,
        "cut": len(outlook.standard_errors) > MOST_LINES,
    }
