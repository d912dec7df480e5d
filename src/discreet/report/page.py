"""One page that a person can read: what was asked, the answer, how good it is, and what it gave away.

Made from released results and a ledger alone, on a machine that need not have seen the data.
The page is one file, asks the network for nothing, and shows every name as text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet import _files
from discreet.errors import InvalidType
from discreet.privacy.adjacency import Replace
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp
from discreet.privacy.findings import finding_of
from discreet.privacy.ledger import Ledger
from discreet.privacy.reading import epsilons, reading
from discreet.privacy.wording import in_words, unit_words
from discreet.report import figures

if TYPE_CHECKING:
    import os

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.curves.tradeoff import TradeoffFunction
    from discreet.privacy.findings import Estimate, Finding

NOT_PROMISED = (
    "Scores, residuals and predictions on the private rows are exact functions of them: for the data owner only.",
    "Not covered: reading errors, one person on several rows where no unit is named, a second ledger about the same.",
    "Randomness comes from AES, so every guarantee is computational; the time a computation takes is not promised.",
)


def write_report(
    results: Any, ledger: Ledger | None = None, path: str | os.PathLike[str] = "report.html", *, title: str = "Report"
) -> None:
    """Write a self-contained HTML page about released results.

    Parameters
    ----------
    results : released result, or sequence of them
        Fitted models, RegressionResults, Moments, Releases: whatever was released or loaded from a file.
    ledger : Ledger, optional
        Who paid; its total and its entries get a section of their own.
    path : path
        Where the page is written.
    title : str
        Of the page.

    Raises
    ------
    InvalidType
        If a result is not a released one.
    InvalidArgument
        If the file cannot be written.

    Guarantee
    ---------
    Post-processing of releases: it costs nothing and reads no row. No exact statistic of private rows is on the page,
    since none is in a release.

    Examples
    --------
    >>> import discreet as dp, tempfile, pathlib
    >>> schema = dp.Schema({"y": dp.Number(0, 1), "x": dp.Number(0, 1)}, adjacency=dp.Replace())
    >>> import pyarrow as pa
    >>> table = pa.table({"y": [0.1, 0.9, 0.4], "x": [0.2, 0.8, 0.5]})
    >>> moments = dp.release_moments(table, schema, budget=dp.Pure(epsilon=1))
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> dp.write_report(moments, path=page)
    >>> "<!doctype html>" in page.read_text()
    True
    """
    with _files.OutputFile(path, name="path") as file:
        file.write(report_html(results, ledger, title=title))


def report_html(results: Any, ledger: Ledger | None = None, *, title: str = "Report") -> str:
    """Return the page as a text; see `write_report`."""
    if ledger is not None and not isinstance(ledger, Ledger):
        raise InvalidType(f"`ledger` must be a Ledger or None; found {type(ledger).__name__}.")
    findings = [finding_of(result) for result in _several(results)]
    return str(
        template("report.html.jinja").render(
            title=title,
            articles=[_article(number, finding) for number, finding in enumerate(findings, 1)],
            ledger=None if ledger is None else _ledger_part(ledger),
            not_promised=NOT_PROMISED,
        )
    )


def _several(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (list, tuple)) else [results]


@lru_cache(maxsize=8)
def template(name: str) -> Any:
    """Return a page's template; everything put into it is escaped, but for what this package has made as markup."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("discreet.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template(name)


def markup(svg: str) -> Any:
    """Return a figure as markup that a template does not escape: its names were escaped when it was drawn."""
    import markupsafe

    return markupsafe.Markup(svg)  # noqa: S704  (made by figures.py from escaped texts)


@dataclass(frozen=True)
class _Row:
    """One line of the table of estimates: what is shown, and what it is sorted by."""

    name: str
    cells: tuple[tuple[str, float], ...]


def _article(number: int, finding: Finding) -> dict[str, Any]:
    event = finding.event
    curve = event.budget.tradeoff()
    has_errors = any(one.standard_error is not None for one in finding.estimates)
    head, rows = _table(finding, has_errors=has_errors)
    # An intercept is on a scale of its own.
    drawn = [one for one in finding.estimates if one.lower is not None and one.name != "Intercept"]
    return {
        "number": number,
        "finding": finding,
        "asked": finding.asked,
        "head": head,
        "rows": rows,
        "has_errors": has_errors,
        "forest": _forest(finding, drawn) if drawn else None,
        "shares": _shares(finding),
        "given": _given(curve, event.budget, event.adjacency, unit_words(event.adjacency, event.rows_per_unit)),
        "statistic": event.statistic,
        "cost": _budget_words(event.budget),
        "curve": markup(
            figures.curves_svg(
                {"this release": curve},
                "Tradeoff curve of this release: the smallest chance of missing a person against the chance of a false "
                "alarm. The nearer to the diagonal, the more private.",
            )
        ),
    }


def _forest(finding: Finding, drawn: list[Estimate]) -> Any:
    level = 100 * (finding.level or 0)
    return markup(figures.forest_svg(drawn, f"Estimates and {level:.3g} % intervals; the numbers are in the table."))


def _table(finding: Finding, *, has_errors: bool) -> tuple[tuple[str, ...], list[_Row]]:
    # Where there is no level, there are neither p values nor intervals.
    tests = () if finding.level is None else ("p", f"{100 * finding.level:.3g} % interval")
    head = ("", "estimate", *(("std err", *tests, "noise share") if has_errors else ()))
    rows = []
    for one in finding.estimates:
        cells: list[tuple[str, float]] = [(f"{one.value:.6g}", one.value)]
        if has_errors:
            small = one.p_value is not None and one.p_value < 0.001
            shown = [
                ("< 0.001", 0.0) if small else _cell(one.p_value, "{:.3f}"),
                (f"{one.lower:.6g} to {one.upper:.6g}" if one.lower is not None else "-", one.lower or 0.0),
            ]
            cells += [
                _cell(one.standard_error, "{:.3g}"),
                *(shown if tests else []),
                _cell(None if one.noise_share is None else 100 * one.noise_share, "{:.0f} %"),
            ]
        rows.append(_Row(one.name, tuple(cells)))
    return head, rows


def _cell(value: float | None, form: str) -> tuple[str, float]:
    return ("-", math.inf) if value is None else (form.format(value), value)


def _shares(finding: Finding) -> str | None:
    """Return in one sentence how much of the uncertainty is privacy noise."""
    shares = [one.noise_share for one in finding.estimates if one.noise_share is not None]
    if not shares:
        return None
    low, high = 100 * min(shares), 100 * max(shares)
    return (
        f"Of the variance of the estimates, {low:.0f} % to {high:.0f} % is privacy noise; the rest is sampling error, "
        "which would be there without privacy, too."
    )


def _given(curve: TradeoffFunction, budget: Budget, adjacency: Adjacency, unit: str) -> dict[str, Any]:
    return {
        "words": in_words(budget, adjacency),
        "reading": reading(curve, adjacency),
        "epsilons": [(f"1e-{len(str(delta.denominator)) - 1}", _finite(epsilon)) for delta, epsilon in epsilons(curve)],
        "adjacency": _adjacency_words(adjacency),
        "unit": unit,
    }


def _finite(epsilon: float) -> str:
    return f"{epsilon:g}" if math.isfinite(epsilon) else "none is finite"


def _adjacency_words(adjacency: Adjacency) -> str:
    if adjacency.unit is not None:
        how = "differ in" if isinstance(adjacency, Replace) else "differ by the presence of"
        return f"{adjacency.word}: neighbours {how} all rows of one `{adjacency.unit}`, the number of rows is private."
    if isinstance(adjacency, Replace):
        return "Replace: neighbours differ in one record, the number of records is public."
    return "AddRemove: neighbours differ by one record more or less, the number of records is private."


def _budget_words(budget: Budget) -> str:
    if isinstance(budget, Pure):
        return f"pure epsilon {_exact(budget.epsilon)}"
    if isinstance(budget, Approx):
        return f"epsilon {_exact(budget.epsilon)} with delta {_exact(budget.delta)}"
    if isinstance(budget, Zcdp):
        return f"zero-concentrated rho {_exact(budget.rho)}"
    assert isinstance(budget, Gdp)  # noqa: S101  (the four kinds of budgets)
    return f"Gaussian mu {_exact(budget.mu)}"


def _exact(number: Any) -> str:
    """Return a rational as a short decimal, or as about that."""
    text = f"{float(number):.6g}"
    return text if float(text) == float(number) else f"about {text}"


def _ledger_part(ledger: Ledger) -> dict[str, Any]:
    total, adjacency = ledger.total, ledger.adjacency
    if total is None or adjacency is None:
        return {"audit": True}
    curve, spent = ledger.tradeoff(), ledger.tradeoff(of="spent")
    assert curve is not None  # noqa: S101  (a ledger with a total has one)
    assert spent is not None  # noqa: S101
    left = ledger.left_approx if ledger.left_approx is not None else ledger.left
    return {
        "audit": False,
        "total": _budget_words(total),
        "left": "nothing" if left is None else _budget_words(left),
        "entries": [
            (entry.number, f"{entry.time:%Y-%m-%d %H:%M} UTC", entry.event.statistic, _budget_words(entry.event.budget))
            for entry in ledger.entries
        ],
        "given": _given(curve, total, adjacency, unit_words(adjacency)),
        "curve": markup(
            figures.curves_svg(
                {"promise of the ledger": curve, "spent so far": spent},
                "Tradeoff curves of the ledger's total and of what was spent so far.",
            )
        ),
    }
