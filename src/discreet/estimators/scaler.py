"""Scaling for pipelines by declared bounds alone: a transformer that learns nothing from the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.estimators.arguments import box_of, with_parameters
from discreet.estimators.files import Saved, read, written
from discreet.lattice.bounds import Box
from discreet.tables.arrays import check_new_rows, check_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


@with_parameters
class BoundsScaler(OneToOneFeatureMixin, TransformerMixin, Saved, BaseEstimator):
    """Scale columns to ``(x - m) / s`` with public m and s: the middle and half-width of the declared bounds.

    A scaler that is fitted to private rows, such as StandardScaler, looks at them without paying, and no guarantee of
    a model behind it covers that; this one reads the declaration and nothing else.
    The bounds after scaling are ``((l - m) / s, (u - m) / s)``: give them to the model that follows.

    Parameters
    ----------
    x_bounds : Box
        The declared public range of every column, in its own units.
    center : float or array-like of shape (n_features,), optional
        m, public, in the columns' units; default: the middle of the bounds.
    scale : float or array-like of shape (n_features,), optional
        s, public, above 0; default: half the width of the bounds, so that a column fills [-1, 1].

    Attributes
    ----------
    center_, scale_ : ndarray of float64, shape (n_features,)
        m and s. Columns of a one-hot block keep m = 0 and s = 1.
    scaled_bounds_ : Box
        The bounds after scaling.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only where a frame's columns have names.

    Guarantee
    ---------
    Nothing is computed from a row: `fit` reads the number and the names of the columns.
    A cell within its bounds is within the scaled bounds, also after rounding, for both are computed alike.

    Examples
    --------
    >>> import numpy as np
    >>> import discreet as dp
    >>> from sklearn.pipeline import make_pipeline
    >>> scaler = dp.BoundsScaler(x_bounds=dp.Box(lower=[17, 0], upper=[90, 20]))
    >>> scaler.scaled_bounds()
    Box(lower=(-1.0, -1.0), upper=(1.0, 1.0))
    >>> model = make_pipeline(scaler, dp.FunctionalLinearRegression(
    ...     budget=dp.Pure(epsilon=1), x_bounds=scaler.scaled_bounds(), y_bounds=dp.Interval(0, 1),
    ...     adjacency=dp.Replace()))
    >>> scaler.fit_transform(np.array([[17.0, 10.0], [90.0, 20.0]]))
    array([[-1.,  0.],
           [ 1.,  1.]])
    """

    _kind: ClassVar[str] = "scaler"

    x_bounds: Box
    center: Any = None
    scale: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the number and the names of the columns; no cell is used.

        Parameters
        ----------
        X : array-like or frame, shape (n_rows, n_features)
            Rows whose cells are not looked at, but for their being numbers.
        y : object
            Ignored.

        Raises
        ------
        InvalidArgument
            If the declarations do not fit the number of columns.
        """
        del y
        described = check_shape(self, X)
        return self._take(described.n_features_in_, getattr(described, "feature_names_in_", None))

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the scaled rows, float64 of shape (n_rows, n_features).

        Cells outside the bounds are not clipped, and missing ones (NaN, inf) stay missing: both are the model's to see.

        Raises
        ------
        InvalidData
            If a cell is no number; quotes none.
        """
        with np.errstate(all="ignore"):  # no private value may cause a warning
            return np.asarray((check_new_rows(self, X, may_lack_cells=True) - self.center_) / self.scale_)

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """Return rows in the columns' own units, float64 of shape (n_rows, n_features)."""
        with np.errstate(all="ignore"):
            return np.asarray(check_new_rows(self, X, may_lack_cells=True) * self.scale_ + self.center_)

    def scaled_bounds(self) -> Box:
        """Return the bounds after scaling, before any row is seen; a scalar Box stays one."""
        declared = box_of(self)
        widths = [len(value) for value in (self.center, self.scale) if hasattr(value, "__len__")]
        if not declared.broadcasts or widths:
            return self._declared(max([len(declared.lower), *widths]))[2]
        if declared.one_hot:
            raise InvalidArgument(
                "A scalar Box with one-hot blocks has no width yet: give its limits a column, or fit."
            )
        box = self._declared(1)[2]
        return Box(lower=box.lower[0], upper=box.upper[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _take(self, n_columns: int, names: Any) -> Self:
        """Set the fitted attributes from public facts; what a fit and a load end with."""
        self.center_, self.scale_, self.scaled_bounds_ = self._declared(n_columns)
        self.n_features_in_ = n_columns
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        return self

    def _content(self) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        return {
            "declarations": written(self.get_params(deep=False)),
            "n_features": self.n_features_in_,
            "names": None if names is None else names.tolist(),
        }

    @classmethod
    def _of_content(cls, content: Mapping[str, Any]) -> Self:
        model = cls(**read(content["declarations"]))
        model._take(content["n_features"], content["names"])
        return model

    def _declared(self, n_columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64], Box]:
        """Return m, s and the bounds after scaling of `n_columns` columns."""
        box = box_of(self).for_columns(n_columns)
        lower, upper = np.array(box.lower), np.array(box.upper)
        center = _constants(self.center, "center", n_columns, (lower + upper) / 2.0)
        scale = _constants(self.scale, "scale", n_columns, (upper - lower) / 2.0)
        if not (scale > 0.0).all():
            raise InvalidArgument("`scale` must be greater than 0 in every column.")
        for start, stop in box.one_hot:
            center[start:stop], scale[start:stop] = 0.0, 1.0
        slices = [slice(*block) for block in box.one_hot]
        return center, scale, Box(lower=(lower - center) / scale, upper=(upper - center) / scale, one_hot=slices)


def _constants(value: Any, name: str, n_columns: int, default: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return declared constants, one a column."""
    if value is None:
        return default
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return np.full(n_columns, _checks.finite_float(value, name))
    numbers = np.array([_checks.finite_float(number, name) for number in value])
    if len(numbers) != n_columns:
        raise InvalidArgument(f"`{name}` must be one number or one a column; found {len(numbers)} for {n_columns}.")
    return numbers
