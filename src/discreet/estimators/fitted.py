"""What a fitted model of the front door can do; nothing here meets a private row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from discreet import _files
from discreet.estimators.descent_base import bounded_rows
from discreet.tables.arrays import check_new_matrix, check_new_rows

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from discreet.estimators.results import ModelResult
    from discreet.lattice.row_grid import RowGrid
    from discreet.privacy.findings import Finding
    from discreet.privacy.release import Release
    from discreet.tables.design import Design


class FittedModel(BaseEstimator):
    """Coefficients with their release: shown, reported, saved and used on new rows, all of it post-processing."""

    _loss: ClassVar[str]

    coef_: NDArray[np.float64]
    intercept_: Any
    coef_names_: NDArray[Any]
    release_: Release[Any]
    design_: Design | None
    formula_: str | None
    grid_: RowGrid | None

    @property
    def loss(self) -> str:
        """What is minimized: "squared", "logistic" or "poisson"."""
        return self._loss

    def result(self) -> ModelResult:
        """Return the model as a table with standard errors and intervals where they are known to be right.

        Guarantee
        ---------
        Post-processing of the release: costs nothing.
        """
        from sklearn.utils.validation import check_is_fitted

        from discreet.estimators.results import result_of

        check_is_fitted(self)
        return result_of(self)

    def summary(self) -> ModelResult:
        """Return what is printed: the method, its reason and cost, estimates and what they may be off by."""
        return self.result()

    def to_finding(self) -> Finding:
        """Return what a report says of the model."""
        return self.result().to_finding()

    def dumps(self) -> str:
        """Return the text of a model file: strict JSON with the declarations, the release and nothing else."""
        from sklearn.utils.validation import check_is_fitted

        from discreet.estimators.model_files import dumps

        check_is_fitted(self)
        return dumps(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `load` reads."""
        with _files.OutputFile(path, name="path") as output:
            output.write(self.dumps())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that `save` wrote; its event is priced anew.

        Raises
        ------
        InvalidData
            If the file is damaged, or holds a model of another kind.
        """
        from discreet.estimators.model_files import load

        found: Self = load(path, cls)
        return found

    def take_coefficients(self, coefs: NDArray[np.float64], constants: NDArray[np.float64]) -> None:
        """Set `coef_` and `intercept_` from one row a model."""
        self.coef_ = coefs
        self.intercept_ = constants

    def _margins(self, X: Any) -> NDArray[np.float64]:
        """Return linear predictors of new rows, shape (n_rows, n_models); NaN where a cell is missing under "drop"."""
        from sklearn.utils.validation import check_is_fitted

        from discreet.tables.prediction import feature_blocks, margins_of

        check_is_fitted(self)
        coefs, constants = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        if self.grid_ is not None:
            return margins_of(bounded_rows(check_new_matrix(self, X), self.grid_), coefs.T, constants)
        if self.design_ is None:
            return margins_of(check_new_rows(self, X), coefs.T, constants)
        labels = dict(self.design_.written).get("labels") is not None
        assert self.formula_ is not None  # noqa: S101  (a design has one)
        read = feature_blocks(X, self.design_.schema, self.formula_, list(self.coef_names_), labels=labels)
        blocks = [np.where(kept[:, None], margins_of(features, coefs.T, constants), np.nan) for features, kept in read]
        return np.concatenate(blocks) if blocks else np.empty((0, len(coefs)))
