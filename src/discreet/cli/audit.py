"""`discreet audit`: mechanisms are run on worst-case neighbours, and convicted where they break their claims."""

from __future__ import annotations

import importlib
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.declarations import WrongUsage, whole
from discreet.cli.outputs import ForceOption, check_outputs, open_output

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.audit.cases.case import AuditCase
    from discreet.audit.verdicts import Verdict

_FORMATS = (".png", ".svg", ".pdf")


def audit(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME|MODULE:FUNCTION]...",
            help="Mechanisms of ours, by name or a part of it (all where none is given), or a function without "
            "arguments of your own that returns an AuditCase.",
        ),
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="Tell the names of our mechanisms, and leave.")] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            parser=whole,
            metavar="INTEGER",
            help="Runs of each data set; as many as the power asks for without it.",
        ),
    ] = None,
    confidence: Annotated[
        str | None, typer.Option("--confidence", help="Of each verdict; 0.999999999 where it is not given.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", parser=whole, metavar="INTEGER", help="Test seed, for an audit that can be repeated."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the verdicts are written (JSON).")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Where the curves are drawn, seen against claimed (.png, .svg, .pdf).")
    ] = None,
    force: ForceOption = False,
) -> int:
    """Run mechanisms on worst-case neighbours; exit with 4 where one gives away more than it claims."""
    from discreet import _files
    from discreet.cli.progress import stepping

    if list_names:
        from discreet.audit.mechanisms import registry

        for entry in registry().values():
            typer.echo(f"{entry.name}  {entry.budget!r}")
        return 0
    if plot is not None:
        _check_plot(plot)
    check_outputs({"--output": output, "--plot": plot}, force=force)
    with ExitStack() as stack:
        written = None if output is None else stack.enter_context(open_output(output, force=force))
        cases = _cases(names or [])
        tell = stack.enter_context(stepping())
        verdicts = _verdicts(cases, _settings(runs, confidence, seed), tell)
        if written is not None:
            written.write(_files.dump("audit", {"verdicts": [verdict.to_json() for verdict in verdicts]}))
    if plot is not None:
        _draw(verdicts, plot)
    n_violated = sum(verdict.violated for verdict in verdicts)
    typer.echo(f"{len(verdicts)} audited, {n_violated} violated.")
    return 4 if n_violated else 0


def _settings(runs: int | None, confidence: str | None, seed: int | None) -> dict[str, Any]:
    from discreet.privacy.coins import Coins

    settings: dict[str, Any] = {"n_runs": runs}
    if confidence is not None:
        settings["confidence"] = confidence
    if seed is not None:
        settings["coins"] = Coins.from_seed(seed)
    return settings


def _verdicts(
    cases: list[AuditCase], settings: dict[str, Any], tell: Callable[[int, int], None] | None
) -> list[Verdict]:
    verdicts = []
    for done, case in enumerate(cases, 1):
        verdicts.append(case.run(**settings))
        typer.echo(_encodable(str(verdicts[-1])))
        if tell is not None:
            tell(done, len(cases))
    return verdicts


def _encodable(text: str) -> str:
    """Return a text with what the terminal's encoding lacks written as Python writes it."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _draw(verdicts: list[Verdict], plot: Path) -> None:
    import warnings

    from discreet.audit.figures import verdict_figure

    with warnings.catch_warnings():
        # A name may have signs that the font lacks; they are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        verdict_figure(verdicts).savefig(plot)


def _check_plot(path: Path) -> None:
    if path.suffix.lower() not in _FORMATS:
        raise WrongUsage(f"--plot must end in {', '.join(_FORMATS)}; found {path.name!r}.")
    if not path.parent.is_dir():
        raise WrongUsage(f"--plot needs a folder that exists; there is no {str(path.parent)!r}.")


def _cases(names: list[str]) -> list[AuditCase]:
    """Return the audits that the arguments name, ours and the user's own."""
    from discreet.audit.mechanisms import entries_named

    own = [name for name in names if ":" in name]
    ours = [name for name in names if ":" not in name]
    cases = [entry.case() for entry in entries_named(ours)] if ours or not own else []
    return cases + [case for name in own for case in _own_cases(name)]


def _own_cases(name: str) -> list[AuditCase]:
    """Return what a user's function says is to be audited: one case or a list of them."""
    from discreet.audit.cases.case import AuditCase

    module_name, _, attribute = name.partition(":")
    # As `python -m` does: modules of the working directory can be named.
    if "" not in sys.path:
        sys.path.insert(0, "")
    missing = False
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        missing = True
    if missing:
        raise WrongUsage(f"There is no module {module_name!r}. Name one of the working directory, or an installed one.")
    function = getattr(module, attribute, None)
    if not callable(function):
        raise WrongUsage(f"Module {module_name!r} has no function {attribute!r}. Name one that it has.")
    found = function()
    cases = found if isinstance(found, list) else [found]
    if cases and all(isinstance(case, AuditCase) for case in cases):
        return cases
    raise WrongUsage(f"{name} must return a discreet.audit.AuditCase, or a list; found {type(found).__name__}.")
