"""What `discreet fit` reads, by what the source is: records under a formula, a sparse file, or a release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.cli import declarations as options
from discreet.cli import progress
from discreet.cli.declarations import reals
from discreet.cli.fit_options import LOGISTIC, POISSON, SQUARED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from discreet.cli.fit_options import FitOptions
    from discreet.estimators.methods.fit import FitTerms
    from discreet.lattice.bounds import Interval
    from discreet.models.result import RegressionResult
    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.ledger import Ledger
    from discreet.tables.schema.schema import Schema

_OWNER = "discreet fit"
_CLASSES = {SQUARED: "LinearRegression", LOGISTIC: "LogisticRegression", POISSON: "PoissonRegression"}


@dataclass(frozen=True)
class Source(ABC):
    """What a fit reads.

    Parameters
    ----------
    given : FitOptions
        What the command line says.
    """

    given: FitOptions
    is_free: ClassVar[bool] = False

    @property
    def inputs(self) -> Iterable[Path | None]:
        """The files that are read."""
        given = self.given
        return given.data, given.sparse, given.labels, given.schema, given.ledger

    @abstractmethod
    def check(self) -> None:
        """Refuse options that do not belong to the source; nothing is read."""

    @abstractmethod
    def prepare(self) -> None:
        """Refuse declarations that do not fit the source; no private row is read."""

    @abstractmethod
    def fit(self) -> RegressionResult:
        """Release the coefficients, or read them from a release."""

    def _terms(self, adjacency: Adjacency) -> FitTerms:
        from discreet.estimators.methods.fit import FitTerms

        given = self.given
        if given.expected_rows is not None and adjacency.size_is_public:
            raise options.WrongUsage(
                "--expected-rows belongs to --adjacency add-remove; under replace the number of rows is public. "
                "Leave it out."
            )
        return FitTerms(
            owner=_OWNER,
            loss=given.loss,
            method=given.method or "auto",
            budget=options.needed(given.budget),
            adjacency=adjacency,
            expected_rows=given.expected_rows,
            settings=given.settings,
        )


class RecordSource(Source):
    """A file or folder of records, under a schema and a formula."""

    def check(self) -> None:
        """Refuse options of other sources and methods, and a file that is absent."""
        self.given.refuse_sparse_options()
        data, _ = _data_and_formula(self.given)
        self._levels()
        options.require_file(data, "data file")
        self.given.check_moments()

    def prepare(self) -> None:
        """Refuse declarations that the table's header does not have."""
        data, _ = _data_and_formula(self.given)
        options.check_named(data, self._schema(), self.given.bounds, self._levels())

    def fit(self) -> RegressionResult:
        """Release the coefficients of the formula."""
        from discreet.estimators.methods.fit import declare_records, fit

        data, formula = _data_and_formula(self.given)
        schema, given = self._schema(), self.given
        adjacency, payer = self._neighbours(schema)
        terms = self._terms(adjacency)
        with ExitStack() as stack:
            declared = declare_records(
                terms, data, formula, schema, watch=lambda table: stack.enter_context(progress.reading(table.size_hint))
            )
            result = fit(terms, declared, payer).result
        name = _CLASSES[given.loss]
        declarations: dict[str, Any] = {"method": terms.method, "expected_rows": terms.expected_rows}
        if given.mechanism is not None or given.radius is not None or adjacency.unit is not None:
            # Only the class of one noisy Gram matrix declares them.
            name, declarations = f"Functional{name}", {"mechanism": given.mechanism or "auto"}
            if given.radius is not None:
                declarations |= {"approximation": "minimax", "radius": given.radius}
        return _named(result, name, terms, schema=schema, **declarations)

    def _levels(self) -> list[str]:
        given = self.given
        if given.classes is None:
            return list(given.levels or ())
        return [*(given.levels or ()), options.target_levels(str(given.formula), given.classes, given.loss)]

    def _schema(self) -> Schema:
        return options.read_schema(self.given.schema, self.given.bounds, self._levels())

    def _neighbours(self, schema: Schema) -> tuple[Adjacency, Ledger | None]:
        """Return the adjacency that options, schema and ledger declare, and the ledger."""
        from discreet.privacy.release import settle_adjacency

        said = options.of_unit(self.given.adjacency, schema)
        declared = said if said is not None else schema.adjacency
        payer = options.open_ledger(self.given.ledger, self.given.terms, declared)
        if declared is None and (payer is None or payer.adjacency is None):
            raise options.WrongUsage(
                "Say who are neighbours: --adjacency replace (n is public) or add-remove (n is private)."
            )
        return settle_adjacency(said, payer, schema), payer


class KeptRelease(Source):
    """A release made by `discreet release`: every fit from it is free."""

    is_free: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse what was declared when the release was made, or belongs to spending."""
        given = self.given
        given.refuse_sparse_options()
        data, formula = _data_and_formula(given)
        if given.classes is not None:
            options.target_levels(formula, given.classes, given.loss)
        # A page may tell of the ledger that paid for the release.
        names = [
            "schema",
            "bounds",
            "levels",
            "classes",
            "adjacency",
            "mechanism",
            "method",
            "expected_rows",
            "no_ledger",
        ]
        if given.report is None:
            names.append("ledger")
        foreign = given.first_given(names)
        if foreign is not None:
            raise options.WrongUsage(
                f"{str(data)!r} is a release already, and a fit from it is free: {foreign} belongs to data. Leave it "
                "out, or give the data."
            )
        if given.loss == POISSON:
            raise options.WrongUsage(
                "--loss poisson belongs to data: a release answers squared and logistic. Give the data."
            )

    def prepare(self) -> None:
        """Refuse nothing more: all was declared when the release was made."""

    def fit(self) -> RegressionResult:
        """Return the regression that is read from the release."""
        from discreet.functional.logit import LogisticObjective
        from discreet.functional.moments import Moments

        given = self.given
        data, formula = _data_and_formula(given)
        radius = given.radius
        objective = LogisticObjective(approximation="taylor" if radius is None else "minimax", radius=radius)
        if given.budget is not None or given.terms is not None:
            raise options.WrongUsage(
                f"{str(data)!r} is a release already: a fit from it is free. Leave the budget out."
            )
        moments = Moments.load(data)
        return moments.regress(formula) if given.loss == SQUARED else objective.regress(moments, formula)


class SparseFile(Source):
    """An svmlight or .npz file, whose rows are scaled down to a norm."""

    def check(self) -> None:
        """Refuse what belongs to tables with named columns."""
        given = self.given
        foreign = given.first_given(("data", "formula", "schema", "bounds", "levels", "radius"))
        if foreign is not None:
            raise options.WrongUsage(
                f"{foreign} does not belong to --sparse FILE, whose columns have no names. Leave it out."
            )
        if given.mechanism is not None:
            raise options.WrongUsage("--mechanism does not belong to --sparse; use --selection and --noise.")
        if given.method is not None and (given.selection is not None or given.noise is not None):
            raise options.WrongUsage(
                "--selection and --noise name a kind of noisy step, in the place of --method. Leave one of them out."
            )

    def prepare(self) -> None:
        """Refuse a file that is absent, and declarations that are."""
        from discreet.tables.readers.sparse_files import is_sparse_file

        given, path = self.given, self._path
        options.needed(given.budget)
        if given.adjacency is None:
            raise options.WrongUsage(
                '--sparse needs --adjacency, "replace" (n is public) or "add-remove" (n is private).'
            )
        if given.row_norm is None:
            raise options.WrongUsage("--sparse needs --row-norm, the norm to which every row is scaled down.")
        if given.loss == LOGISTIC and given.classes is None:
            raise options.WrongUsage(
                "--loss logistic needs --classes, the labels, which are public and never read from the rows. "
                "Write for example --classes=-1,1."
            )
        options.require_file(path, "data file")
        if given.columns is None and is_sparse_file(path) and path.suffix.lower() != ".npz":
            raise options.WrongUsage(
                "An svmlight file does not say how many columns there are, and its largest column number is private: "
                "give the public number, --columns."
            )

    def fit(self) -> RegressionResult:
        """Release the coefficients of all columns."""
        from discreet.estimators.methods.fit import declare_scaled_rows, fit
        from discreet.privacy.release import settle_adjacency
        from discreet.tables.readers.sparse_files import read_sparse

        given = self.given
        table = read_sparse(self._path, n_columns=given.columns, zero_based=given.zero_based, labels=given.labels)
        if table.private_y is None:
            raise options.WrongUsage(f"{str(self._path)!r} has no labels: give --labels FILE.")
        assert given.adjacency is not None  # noqa: S101  (checked before)
        assert given.row_norm is not None  # noqa: S101  (checked before)
        target = self._target(numeric=table.private_y.dtype.kind in "fiub")
        terms = self._terms(given.adjacency)
        rows: dict[str, Any] = {"row_norm": given.row_norm, "entry_bound": given.entry_bound}
        intercept = not given.no_intercept
        declared = declare_scaled_rows(terms, table.private_X, table.private_y, intercept=intercept, **rows, **target)
        payer = options.open_ledger(given.ledger, given.terms, given.adjacency)
        settle_adjacency(given.adjacency, payer, units=False, required=True)
        with progress.stepping() as tell:
            result = fit(terms, declared, payer, tell).result
        of_target = {"classes": target["classes"]} if given.loss == LOGISTIC else {"y_bounds": target["bounds"]}
        settings = {name: value for name, value in terms.settings.items() if value is not None}
        name = _CLASSES[given.loss]
        own: dict[str, Any] = {"method": terms.method}
        if terms.takes_steps:
            name, own = f"Sparse{name}", {"sparsity": None}
        declarations = rows | of_target | {"fit_intercept": intercept, "expected_rows": terms.expected_rows}
        return _named(result, name, terms, **(declarations | own | settings))

    @property
    def _path(self) -> Path:
        assert self.given.sparse is not None  # noqa: S101  (what makes it a sparse file)
        return self.given.sparse

    def _target(self, *, numeric: bool) -> dict[str, Any]:
        """Return the bounds of a number, or the classes of labels in the kind that the file has."""
        from discreet.tables.schema.labels import check_classes

        given = self.given
        if given.loss == LOGISTIC:
            if given.y_bounds is not None:
                raise options.WrongUsage("--y-bounds belongs to --loss squared. Leave it out: labels have --classes.")
            return {
                "bounds": None,
                "classes": check_classes(_classes(str(given.classes), numeric=numeric), several=True),
            }
        if given.classes is not None:
            raise options.WrongUsage("--classes belongs to --loss logistic. Leave it out: a number has --y-bounds.")
        if given.y_bounds is None:
            raise options.WrongUsage(f"--loss {given.loss} needs --y-bounds LOW,HIGH, the public range of the target.")
        return {"bounds": _interval(given.y_bounds), "classes": None}


def source_of(given: FitOptions) -> Source:
    """Return what a fit reads, by what the command line names."""
    from discreet import _files

    if given.sparse is not None:
        return SparseFile(given)
    is_release = given.data is not None and _files.kind_of(given.data) == "moments"
    return KeptRelease(given) if is_release else RecordSource(given)


def _data_and_formula(given: FitOptions) -> tuple[Path, str]:
    if given.data is not None and given.formula is not None:
        return given.data, given.formula
    missing = "DATA" if given.data is None else "FORMULA"
    raise options.WrongUsage(
        f"Missing argument '{missing}'. Write discreet fit DATA FORMULA --epsilon 1 --ledger FILE -o FILE."
    )


def _named(result: RegressionResult, name: str, terms: FitTerms, **declared: Any) -> RegressionResult:
    """Return a result whose file the class of this name loads, too."""
    from discreet.estimators.files import named

    return named(result, name, {"budget": terms.budget, "adjacency": terms.adjacency, **declared})


def _classes(text: str, *, numeric: bool) -> list[Any]:
    labels = [label.strip() for label in options.listed(text)]
    if not numeric:
        return labels
    found = reals(text)
    if found:
        return found
    raise options.WrongUsage("--classes must be numbers, as the file's labels are. Write for example --classes=-1,1.")


def _interval(text: str) -> Interval:
    from discreet.lattice.bounds import Interval

    found = reals(text)
    if len(found) == 2 and found[0] < found[1]:
        return Interval(*found)
    raise options.WrongUsage("--y-bounds needs two numbers, the lower first. Write for example --y-bounds=0,10.")
