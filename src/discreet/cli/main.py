"""The command: its subcommands, its exit codes, and one line for every error."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated, NoReturn

import typer
from typer.exceptions import Abort, Exit, TyperException

from discreet.cli import audit, check, example, fit, init, ledger, plan, predict, release, report, sample, show
from discreet.cli.declarations import WrongUsage
from discreet.errors import BudgetExceeded, DiscreetError, NoiseDominatedWarning, NoLedgerWarning

DONE, BAD_INPUT, WRONG_USAGE, BUDGET_REFUSED = 0, 1, 2, 3
INTERRUPTED = 130

app = typer.Typer(
    name="discreet",
    help="Differentially private regressions from private tables.",
    epilog="Exit codes: 0 done, 1 bad input or data, 2 wrong usage, 3 budget refused, 4 an audit found a violation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        from discreet import __version__

        typer.echo(f"discreet {__version__}")
        raise Exit(DONE)


def _debug(value: bool) -> None:
    if value:
        os.environ["DISCREET_DEBUG"] = "1"


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", callback=_debug, help="Show tracebacks, which may hold private values.")
    ] = False,
) -> None:
    del version, debug


app.command("init")(init.init)
app.command("check")(check.check)
app.command("plan")(plan.plan)
app.command("fit")(fit.fit)
app.command("release")(release.release)
app.command("sample")(sample.sample)
app.command("predict")(predict.predict)
app.command("ledger")(ledger.ledger)
app.command("show")(show.show)
app.command("report")(report.report)
app.command("audit")(audit.audit)
app.command("example")(example.example)


def main(arguments: list[str]) -> int:
    """Run the command and return its exit code; errors are one line on stderr."""
    if os.environ.get("DISCREET_DEBUG") or "--debug" in arguments:
        return _invoke(arguments)
    try:
        return _invoke(arguments)
    except BrokenPipeError:
        # Whoever read our output has left; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  (every end has a code and a line)
        message, code = _reading(error)
    typer.echo("discreet: " + " ".join(message.split()), err=True)
    return code


def _reading(error: BaseException) -> tuple[str, int]:
    """Return the line and the exit code of an error."""
    if isinstance(error, TyperException):
        return error.format_message(), WRONG_USAGE
    if isinstance(error, (Abort, KeyboardInterrupt)):
        return "interrupted.", INTERRUPTED
    if isinstance(error, DiscreetError):
        kinds = {WrongUsage: WRONG_USAGE, BudgetExceeded: BUDGET_REFUSED}
        return str(error), kinds.get(type(error), BAD_INPUT)
    # A message of another library may quote a row, so none is shown.
    return f"unexpected {type(error).__name__}. Run again with --debug to see where.", BAD_INPUT


def _invoke(arguments: list[str]) -> int:
    # The summary that a command prints says it, on its own lines.
    warnings.simplefilter("ignore", NoiseDominatedWarning)
    # Whoever said --no-ledger knows.
    warnings.simplefilter("ignore", NoLedgerWarning)
    try:
        code = app(args=arguments, standalone_mode=False, prog_name="discreet")
    except Exit as leave:
        return leave.exit_code
    return code if isinstance(code, int) else DONE


def run() -> NoReturn:
    """Run the command with the process's arguments; the entry point."""
    sys.exit(main(sys.argv[1:]))
