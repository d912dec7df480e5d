"""Iterative hard thresholding WITHOUT privacy: the baseline of experiments, never a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.descent.steps import Descent, NoisyDescent, cut, descend
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.descent.rows import IntegerRows


@dataclass(frozen=True, eq=False)
class _Exact:
    """Steps along the exact gradient."""

    settings: Descent

    def step(self, theta: NDArray[np.float64], private_sums: NDArray[np.int64], bound: int) -> NDArray[np.float64]:
        del bound
        moved: NDArray[np.float64] = theta - self.settings.factors * private_sums
        return moved if self.settings.selection == "all" else cut(moved, self.settings)


def ight_not_private(rows: IntegerRows, settings: Descent) -> NoisyDescent:
    """Return what the steps find without any noise: NOT PRIVATE, for comparison on data that may be shown.

    Parameters
    ----------
    rows : IntegerRows
        The rows.
    settings : Descent
        With selection "threshold" (IGHT, Algorithm 1 of Wang and Gu 2019 with sigma = 0) or "all".

    Raises
    ------
    InvalidArgument
        If the selection is another.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.descent.losses import SquaredLoss
    >>> from discreet.descent.rows import integer_rows
    >>> rows = integer_rows(np.eye(3), [1.0, 0.0, 3.0], row_norm=1.0, target_bounds=(-4, 4))
    >>> settings = Descent(grid=rows.grid, loss=SquaredLoss(clip=8.0), target_bounds=(-4, 4), selection="threshold",
    ...                    n_selected=1, n_steps=1, step_size=3.0, divisor=3.0)
    >>> ight_not_private(rows, settings).coef.tolist()
    [0.0, 0.0, 3.0]
    """
    if settings.selection not in {"all", "threshold"}:
        raise InvalidArgument(f'`selection` must be "all" or "threshold"; found {settings.selection!r}.')
    return descend(rows, settings, _Exact(settings))
