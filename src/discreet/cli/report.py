"""`discreet report`: a page that a person can read, from saved releases and a ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import declarations as options
from discreet.cli.outputs import ForceOption, check_outputs, is_ledger, open_output

ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Where a page about the result is written (HTML, one file).")
]


def report(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Models and releases written by discreet, and at most one ledger."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page is written (HTML).")],
    title: Annotated[str, typer.Option("--title", help="The page's title.")] = "Report",
    force: ForceOption = False,
) -> None:
    """Write one HTML page about releases and their ledger: the answers, how sure they are, what they gave away."""
    from discreet.privacy.ledger import Ledger
    from discreet.report.page import report_html

    for file in files:
        options.require_file(file, "file")
    check_outputs({"--output": output}, force=force, inputs=files)
    ledgers = [file for file in files if is_ledger(file)]
    if len(ledgers) > 1:
        raise options.WrongUsage("FILE... may name one ledger; found more. Write one page for each.")
    with open_output(output, force=force) as page:
        book = Ledger.open(ledgers[0]) if ledgers else None
        results = [load_result(file) for file in files if file not in ledgers]
        page.write(report_html(results, book, title=title))
    typer.echo(f"Wrote {output}.")


def load_result(file: Path) -> Any:
    """Return the released result that a file holds."""
    from discreet import _files
    from discreet.models.files import KINDS
    from discreet.models.result import RegressionResult

    content = _files.read_any(file)
    kind = content["kind"]
    if kind in KINDS:
        return RegressionResult.load(file)
    if kind == "moments":
        from discreet.functional.moments import Moments

        return Moments.load(file)
    if kind in {"quantiles", "components"}:
        from discreet.sampling import draw_files

        return draw_files.read(file)
    raise options.WrongUsage(f"{str(file)!r} holds a {kind!r}, about which there is no report. Leave it out.")


def write_page(file: Any, result: Any, ledger: Path | None) -> None:
    """Write the page of a result that was just released into an opened file."""
    from discreet.privacy.findings import finding_of
    from discreet.privacy.ledger import Ledger
    from discreet.report.page import report_html

    book = Ledger.open(ledger) if ledger is not None else None
    file.write(report_html(result, book, title=finding_of(result).asked[0][1]))
