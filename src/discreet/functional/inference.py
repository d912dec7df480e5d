"""What a regression says: estimates in the data's own units, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks, _files
from discreet.errors import InvalidArgument
from discreet.privacy.events import event_from_json
from discreet.privacy.release import LABELS

if TYPE_CHECKING:
    import os

    from discreet.privacy.budgets import Budget
    from discreet.privacy.events import Event
    from discreet.tables.schema import Schema

NO_INTERVALS = "standard errors and intervals are not computed by this version"
REGULARIZED = "a ridge was needed against the noise, and a regularized estimate has no valid interval"


@dataclass(frozen=True, eq=False)
class RegressionResult:
    """A linear regression read from a release; everything in it is public.

    Parameters
    ----------
    formula : str
        What was asked.
    feature_names : tuple of str
        One name a coefficient, without the intercept.
    coef : ndarray of float64, shape (n_features,)
        Change of the target, in its units, for one unit of the feature.
    intercept : float
        In units of the target; 0 where the model has none.
    has_intercept : bool
        Whether the model has an intercept.
    noise_dominated : bool
        Whether the noise of the release hides the smallest direction of the data.
    ridge : float
        The ridge that the noise made necessary, in grid units; 0 where none was.
    event : Event
        The release that the numbers were read from.
    label : str
        "private", or why the release is not.
    schema : Schema or None
        The declarations, where the model can predict from a table.
    notes : tuple of str
        What else a reader of the release must know.
    """

    formula: str
    feature_names: tuple[str, ...]
    coef: np.ndarray
    intercept: float
    has_intercept: bool
    noise_dominated: bool
    ridge: float
    event: Event
    label: str
    schema: Schema | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients, shape (n_features,)."""
        return self.coef

    @property
    def intercept_(self) -> float:
        """The intercept, in units of the target."""
        return self.intercept

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The names of the coefficients, shape (n_features,)."""
        return np.array(self.feature_names, dtype=object)

    @property
    def cost(self) -> Budget:
        """What the release cost; reading a further regression from it costs nothing."""
        return self.event.budget

    @property
    def params(self) -> dict[str, float]:
        """The estimates by name, the intercept first under "Intercept"."""
        named = dict(zip(self.feature_names, map(float, self.coef), strict=True))
        return {"Intercept": float(self.intercept), **named} if self.has_intercept else named

    @property
    def bse(self) -> dict[str, float]:
        """The standard errors by name; NaN where none is valid (see `why_no_intervals`)."""
        return dict.fromkeys(self.params, float("nan"))

    @property
    def pvalues(self) -> dict[str, float]:
        """The p-values by name; NaN where none is valid (see `why_no_intervals`)."""
        return dict.fromkeys(self.params, float("nan"))

    @property
    def why_no_intervals(self) -> str:
        """The reason why no interval is given."""
        return REGULARIZED if self.ridge > 0 else NO_INTERVALS

    def conf_int(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Return an interval for each estimate; (NaN, NaN) where none is valid (see `why_no_intervals`).

        Parameters
        ----------
        level : float
            The wanted coverage, between 0 and 1.
        """
        if not 0 < _checks.finite_float(level, "level") < 1:
            raise InvalidArgument("`level` must be between 0 and 1, such as 0.95.")
        return dict.fromkeys(self.params, (float("nan"), float("nan")))

    def predict(self, data: Any) -> np.ndarray:
        """Return predictions for the rows of a table, shape (n_rows,), in units of the target.

        Cells are clipped to their declared bounds, as they were when the model was fitted.
        A row that lacks a cell whose policy is "drop" is predicted as NaN.

        Parameters
        ----------
        data : path, data frame, Arrow table
            Rows with the columns that the formula's right side names.

        Raises
        ------
        InvalidData
            If a column is absent or a cell is missing under policy "error"; names the column.
        """
        if self.schema is None:
            raise InvalidArgument(
                "This result has no schema, so it cannot read a table. Multiply with `coef_` instead."
            )
        from discreet.tables.prediction import feature_blocks

        blocks = [
            np.where(kept, features @ self.coef + self.intercept, np.nan)
            for features, kept in feature_blocks(data, self.schema, self.formula, self.feature_names)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def summary(self) -> Summary:
        """Return the table that is printed."""
        return Summary(self)

    def to_json(self) -> dict[str, Any]:
        """Return the content of a model file."""
        return {
            "formula": self.formula,
            "feature_names": list(self.feature_names),
            "coef": [float(value) for value in self.coef],
            "intercept": float(self.intercept),
            "has_intercept": self.has_intercept,
            "noise_dominated": self.noise_dominated,
            "ridge": float(self.ridge),
            "event": self.event.to_json(),
            "label": self.label,
            "notes": list(self.notes),
            "schema": None if self.schema is None else self.schema.to_json(),
        }

    def dumps(self) -> str:
        """Return the text of a model file: strict JSON, nothing of the rows but the release."""
        return _files.dump("regression", self.to_json())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that :meth:`load` reads."""
        with _files.OutputFile(path, name="path") as output:
            output.write(self.dumps())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RegressionResult:
        """Read a model that :meth:`save` wrote."""
        from discreet.tables.schema import Schema

        content = _files.read(path, kind="regression")
        with _files.well_formed(repr(str(path))):
            return cls(
                formula=str(content["formula"]),
                feature_names=tuple(map(str, content["feature_names"])),
                coef=np.array(content["coef"], dtype=np.float64),
                intercept=float(content["intercept"]),
                has_intercept=bool(content["has_intercept"]),
                noise_dominated=bool(content["noise_dominated"]),
                ridge=float(content["ridge"]),
                event=event_from_json(content["event"]),
                label=_files.one_of(content["label"], LABELS),
                schema=None if content["schema"] is None else Schema.from_json(content["schema"]),
                notes=tuple(map(str, content["notes"])),
            )


class Summary:
    """The printed table of a regression."""

    def __init__(self, result: RegressionResult) -> None:
        self._result = result

    def __str__(self) -> str:
        result = self._result
        rows = [("", "estimate", "std err", "95 % interval")]
        rows += [(name, f"{value:.6g}", "-", "-") for name, value in result.params.items()]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [result.formula, ""]
        for row in rows:
            cells = [row[0].ljust(widths[0])] + [row[k].rjust(widths[k]) for k in range(1, 4)]
            lines.append("  ".join(cells).rstrip())
        lines += [
            "",
            f"Cost: {result.cost!r} under {result.event.adjacency!r}; {result.label}.",
            f"-: {result.why_no_intervals}.",
        ]
        if result.noise_dominated:
            lines.append("Noise-dominated: the noise hides the weakest direction of the data, so a ridge was added.")
        lines += [f"Note: {note}." for note in result.notes]
        return "\n".join(lines)

    __repr__ = __str__
