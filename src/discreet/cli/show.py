"""`discreet show`: what any file that discreet wrote says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli import declarations as options
from discreet.cli.outputs import is_ledger

if TYPE_CHECKING:
    from discreet.models.result import RegressionResult

# Lists longer than this are printed as their number of entries.
_LONG = 12


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A model, a release, a verdict or a ledger.")],
    json: options.JsonOption = False,
) -> None:
    """Print any file written by discreet; it holds nothing private but what was released."""
    from discreet import _files
    from discreet.cli.ledger import ledger

    options.require_file(file, "file")
    if is_ledger(file):
        ledger(file, json=json)
        return
    content = _files.read_any(file)
    typer.echo(file.read_text(encoding="utf-8") if json else _text(file, content), nl=not json)


def _text(file: Path, content: dict[str, Any]) -> str:
    """Return what a file says, best as its own class says it."""
    from discreet.models.files import KINDS

    if content["kind"] in KINDS:
        from discreet.models.result import RegressionResult

        return model_text(RegressionResult.load(file))
    if content["kind"] == "moments":
        from discreet.functional.moments import Moments
        from discreet.privacy.wording import unit_words

        moments = Moments.load(file)
        event = moments.release.event
        unit = [f"Unit: {unit_words(event.adjacency, event.rows_per_unit)}."] if event.adjacency.unit else []
        return "\n".join(
            [
                f"Moments of {', '.join(moments.names)}.",
                f"Cost: {moments.cost!r} under {event.adjacency!r}; {moments.release.label}.",
                *unit,
                f'Next, free: discreet fit {file} "{moments.names[0]} ~ ..."',
            ]
        )
    return "\n".join(_outline(content))


def model_text(result: RegressionResult) -> str:
    """Return what is printed of a model: formula and table, its method's settings, and what the method gives up."""
    from discreet.estimators.methods.choice import given_up
    from discreet.models.printed import selected_of

    text = str(result.summary())
    lines = [text] if result.formula is None or text.startswith(result.formula) else [result.formula, text]
    lines += selected_of(result) if result.reason is not None else []
    given = [(name, value) for name, value in result.settings.items() if value is not None]
    if given:
        told = (f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}" for name, value in given)
        lines.append(f"Settings: {', '.join(told)}.")
    lost = given_up(result.method, result.loss)
    if result.reason is not None and lost is not None:
        lines.append(f"Given up: {lost}.")
    return "\n".join(lines)


def _outline(value: Any, indent: str = "", name: str = "") -> list[str]:
    """Return an object as indented lines; long lists are counted."""
    label = f"{indent}{name}: " if name else indent
    if isinstance(value, dict):
        lines = [label.rstrip()] if name else []
        for key, entry in value.items():
            lines += _outline(entry, indent + ("  " if name else ""), str(key))
        return lines
    if isinstance(value, list) and (len(value) > _LONG or any(isinstance(entry, (dict, list)) for entry in value)):
        return [f"{label}{len(value)} entries"]
    if isinstance(value, list):
        return [label + ", ".join(map(str, value))]
    return [f"{label}{value}"]
