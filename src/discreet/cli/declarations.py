"""What the subcommands have in common: budgets, neighbours, schemas, ledgers and numbers as options."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidData

if TYPE_CHECKING:
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.tables.schema.schema import Schema


class WrongUsage(InvalidArgument):
    """An option of the command line is not usable; exit code 2."""


BOUNDS, LEVELS = "--bounds", "--levels"

SchemaOption = Annotated[Path | None, typer.Option("--schema", help="Public facts about the columns (TOML).")]
BoundsOption = Annotated[
    list[str] | None,
    typer.Option("--bounds", metavar="NAME=LOW,HIGH", help="Public bounds of a number; instead of, or over, a schema."),
]
LevelsOption = Annotated[
    list[str] | None,
    typer.Option("--levels", metavar="NAME=A,B", help="Public levels of a category; instead of, or over, a schema."),
]
AdjacencyOption = Annotated[
    str | None,
    typer.Option("--adjacency", metavar="replace|add-remove", help="Neighbouring tables, where the schema is silent."),
]
EpsilonOption = Annotated[str | None, typer.Option("--epsilon", help="Budget of this release, pure epsilon in nats.")]
DeltaOption = Annotated[str | None, typer.Option("--delta", help="With --epsilon: an (epsilon, delta) budget.")]
RhoOption = Annotated[str | None, typer.Option("--rho", help="Budget of this release in zero-concentrated privacy.")]
MuOption = Annotated[str | None, typer.Option("--mu", help="Budget of this release in Gaussian privacy.")]
LedgerOption = Annotated[Path | None, typer.Option("--ledger", help="The ledger's file, which pays and remembers.")]
TotalEpsilonOption = Annotated[str | None, typer.Option("--total-epsilon", help="Total of a ledger to be created.")]
TotalDeltaOption = Annotated[str | None, typer.Option("--total-delta", help="Total of a ledger to be created.")]
TotalRhoOption = Annotated[str | None, typer.Option("--total-rho", help="Total of a ledger to be created.")]
TotalMuOption = Annotated[str | None, typer.Option("--total-mu", help="Total of a ledger to be created.")]
CompositionOption = Annotated[
    str | None,
    typer.Option(
        "--composition",
        metavar="auto|either|sum|zcdp|gdp",
        help="How costs add up in a ledger to be created; auto: what grants most.",
    ),
]
MechanismOption = Annotated[
    str,
    typer.Option(
        "--mechanism", metavar="auto|wishart|laplace|l_inf|gaussian|paper|paper_code", help="The law of the noise."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def read_budget(
    epsilon: str | None, delta: str | None, rho: str | None, mu: str | None, *, prefix: str = ""
) -> Budget | None:
    """Return the budget that the options name, None where they name none."""
    from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp, check_budget

    given = {name: value for name, value in (("epsilon", epsilon), ("rho", rho), ("mu", mu)) if value is not None}
    if delta is not None and epsilon is None:
        raise WrongUsage(f"--{prefix}delta needs --{prefix}epsilon.")
    if len(given) > 1:
        found = " and ".join(f"--{prefix}{name}" for name in given)
        raise WrongUsage(f"One budget is needed; found {found}. Leave out all but one.")
    if not given:
        return None
    message = None
    try:
        if epsilon is not None:
            budget: Budget = Pure(epsilon=epsilon) if delta is None else Approx(epsilon=epsilon, delta=delta)
        else:
            budget = Zcdp(rho=rho) if rho is not None else Gdp(mu=mu)
        return check_budget(budget, f"--{prefix}{next(iter(given))}")
    except InvalidArgument as error:
        message = str(error)
    raise WrongUsage(f"{message} Write a positive number such as --{prefix}{next(iter(given))} 0.5.")


@dataclass(frozen=True)
class LedgerOptions:
    """What the options say of a ledger: its total, and how costs add up in it."""

    total: Budget | None
    composition: str | None


def read_terms(
    epsilon: str | None, delta: str | None, rho: str | None, mu: str | None, composition: str | None
) -> LedgerOptions | None:
    """Return what --total-... and --composition say of a ledger; None where they are absent."""
    from discreet.privacy.filters import COMPOSITIONS

    total = read_budget(epsilon, delta, rho, mu, prefix="total-")
    if composition is not None and composition not in COMPOSITIONS:
        raise WrongUsage(
            f"--composition must be one of {', '.join(COMPOSITIONS)}. Write for example --composition sum."
        )
    return None if total is None and composition is None else LedgerOptions(total, composition)


def read_adjacency(text: str | None) -> Adjacency | None:
    """Return the adjacency that the option names, None where it is absent."""
    from discreet.privacy.adjacency import adjacency_from_name

    if text is None:
        return None
    try:
        return adjacency_from_name(text)
    except InvalidArgument:
        pass
    raise WrongUsage('--adjacency must be "replace" (n is public) or "add-remove" (n is private).')


def of_unit(adjacency: Adjacency | None, schema: Schema | None) -> Adjacency | None:
    """Return the adjacency of --adjacency, whose words name no unit, with the unit that the schema declares."""
    if adjacency is None or schema is None or adjacency.unit is not None:
        return adjacency
    return type(adjacency)(schema.unit)


def read_schema(path: Path | None, bounds: list[str] | None, levels: list[str] | None) -> Schema:
    """Return the schema of the file, with the bounds and levels of the options put over it."""
    from discreet.lattice.bounds import Interval
    from discreet.tables.schema.schema import Schema

    declared: dict[str, Interval | list[str]] = {}
    for name, (option, values) in named_columns(bounds, levels).items():
        if option == LEVELS:
            declared[name] = listed(values)
            continue
        limits = reals(values)
        if len(limits) != 2:
            raise WrongUsage(f"--bounds of {name!r} needs two numbers. Write for example --bounds {name}=0,120.")
        declared[name] = Interval(*limits)
    if path is None and not declared:
        raise WrongUsage("No column is declared: give --schema FILE, or --bounds and --levels.")
    schema = None if path is None else Schema.from_toml(path)
    return Schema.from_bounds(declared, over=schema)


def listed(text: str) -> list[str]:
    """Return texts that are separated by commas; one that holds a comma stands in double quotes, as in a CSV file."""
    return next(csv.reader([text]))


def named_columns(bounds: list[str] | None, levels: list[str] | None) -> dict[str, tuple[str, str]]:
    """Return for each column that the options declare which option it is and what it says; refuse two of one column."""
    found: dict[str, tuple[str, str]] = {}
    given = ((BOUNDS, "age=0,120", bounds), (LEVELS, "sex=Female,Male", levels))
    for option, text, example in ((option, text, example) for option, example, texts in given for text in texts or ()):
        name, values = _named(text, option, example)
        if name in found:
            raise WrongUsage(f"{found[name][0]} and {option} both declare {name!r}. Leave one of them out.")
        found[name] = option, values
    return found


def target_levels(formula: str, classes: str, loss: str) -> str:
    """Return --classes as what --levels would say of the formula's target."""
    target, tilde, _ = formula.partition("~")
    name = target.strip().removeprefix("`").removesuffix("`")
    if loss != "logistic":
        raise WrongUsage("--classes belongs to --loss logistic. Leave it out, or declare --levels.")
    if not (tilde and name):
        raise WrongUsage("--classes are the levels of the formula's target. Write a formula such as 'sick ~ age'.")
    return f"{name}={classes}"


def check_named(data: Path, schema: Schema, bounds: list[str] | None, levels: list[str] | None = None) -> None:
    """Refuse a declaration of a column that the table lacks, by its header alone; name near matches."""
    from discreet.tables.readers.tables import open_rows

    if bounds or levels:
        open_rows(data, schema, [])  # a file that is broken as a file is no fault of theirs
    for name, (option, _) in named_columns(bounds, levels).items():
        reason = None
        try:
            open_rows(data, schema, [name])
        except InvalidData as error:
            reason = str(error)
        if reason is not None:
            raise InvalidData(f"{option} of {name!r}: {reason}")


def check_used(
    formula: str,
    schema: Schema | None,
    path: Path | None,
    bounds: list[str] | None,
    levels: list[str] | None,
    *,
    labels: bool = False,
) -> None:
    """Refuse a declaration of a column that neither the formula nor the schema's file names, where no table does."""
    from discreet.tables.design import Design
    from discreet.tables.formula import near
    from discreet.tables.schema.schema import Schema as Facts

    if schema is None or not (bounds or levels):
        return
    known = set(Design.for_formula(formula, schema, labels=labels).columns_needed)
    known |= set() if path is None else set(Facts.from_toml(path).columns)
    for name, (option, _) in named_columns(bounds, levels).items():
        if name not in known:
            raise WrongUsage(
                f"{option} of {name!r}: the formula has no column {name!r}.{near(name, sorted(known))} "
                "Correct the name, or leave it out."
            )


def _named(text: str, option: str, example: str) -> tuple[str, str]:
    name, equals, values = text.rpartition("=")
    if equals and name:
        return name, values
    raise WrongUsage(f"{option} must read NAME=VALUES. Write for example {option} {example}.")


def open_ledger(path: Path | None, terms: LedgerOptions | None, adjacency: Adjacency | None) -> Ledger | None:
    """Return the ledger of the options; None where no file is named."""
    from discreet.privacy.ledger import Ledger

    if path is None:
        if terms is not None:
            raise WrongUsage("A total, or a --composition, belongs to a ledger's file: add --ledger FILE.")
        return None
    total, composition = (None, None) if terms is None else (terms.total, terms.composition)
    if not path.exists() and total is None:
        raise WrongUsage(f"There is no ledger {str(path)!r}. Create it with --total-epsilon 2, or another total.")
    if not path.exists() and adjacency is None:
        raise WrongUsage("A new ledger needs to know its neighbours: add --adjacency, or declare it in the schema.")
    return Ledger.open(path, total, adjacency, composition, create_on_charge=True)


def needed(budget: Budget | None) -> Budget:
    """Return the budget, or say how to give one."""
    if budget is not None:
        return budget
    raise WrongUsage("A release needs a budget: --epsilon 1, --epsilon 1 --delta 1e-6, --rho 0.1 or --mu 0.5.")


def require_file(path: Path, what: str) -> None:
    """Refuse a file that is absent."""
    if not path.exists():
        raise InvalidArgument(f"There is no {what} {os.fspath(path)!r}. Correct its path.")


# Plain decimals, as everywhere: no underscores, no digits of other scripts.


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
