"""The logistic loss with a parabola in its place: twice least squares on -1 and +1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet import _checks
from discreet.errors import InvalidArgument
from discreet.functional import parabola
from discreet.functional.objectives import QuadraticObjective
from discreet.lattice.bounds import Interval

if TYPE_CHECKING:
    from discreet.functional.moments import Moments
    from discreet.models.result import RegressionResult

APPROXIMATIONS = ("taylor", "minimax")


@dataclass(frozen=True, kw_only=True)
class LogisticObjective(QuadraticObjective):
    """The logistic loss with a parabola in the place of ``log(1 + e^z)``; y is -1 or +1.

    ``log(1 + e^z) - (y + 1)/2 z`` is ``c0 + c2 z**2 - y z/2`` nearly: the objective *is* least squares on -1 and +1,
    times ``1 / (4 c2)``.
    A polynomial is no logit: the minimiser is biased towards 0, the more so the larger ``|x'w|`` is.

    Parameters
    ----------
    approximation : {"taylor", "minimax"}
        Taylor's ``c2 = 1/8``, or the c2 whose largest error on ``|z| <= radius`` is smallest.
    radius : float or None
        For "minimax": the largest ``|x'w|`` that is expected, a public number between 0.1 and 100.
    ridge : float
        See `QuadraticObjective`.

    Source
    ------
    Zhang et al. 2012, Algorithm 2 (Taylor); Chebyshev's best polynomial as in Huggins et al. 2017.

    Examples
    --------
    >>> LogisticObjective().factor
    2.0
    >>> round(LogisticObjective(approximation="minimax", radius=4).factor, 3)
    3.019
    """

    approximation: str = "taylor"
    radius: float | None = None

    def __post_init__(self) -> None:
        name = _checks.one_of(self.approximation, "approximation", APPROXIMATIONS)
        if name == "taylor" and self.radius is not None:
            raise InvalidArgument('`radius` belongs to approximation="minimax"; Leave it out: Taylor\'s has none.')
        if name == "minimax" and self.radius is None:
            raise InvalidArgument(
                'approximation="minimax" needs `radius`, the largest |x\'w| that you expect: a public number such as 4.'
            )
        self.polynomial()

    def polynomial(self) -> parabola.Parabola:
        """Return the even part's parabola, with its errors on ``|z| <= radius`` (1 for Taylor, as in the paper)."""
        return parabola.taylor(1.0) if self.radius is None else parabola.minimax(self.radius)

    @property
    def target_bounds(self) -> Interval:
        """From -1 to 1."""
        return Interval(-1, 1)

    @property
    def curvature(self) -> float:
        """The coefficient c2."""
        return self.polynomial().curvature

    @property
    def pull(self) -> float:
        """One half."""
        return 0.5

    @property
    def loss(self) -> str:
        """Logistic."""
        return "logistic"

    def regress(self, moments: Moments, formula: str) -> RegressionResult:
        """Return the logistic regression that `formula` names, read from a release.

        Parameters
        ----------
        moments : Moments
            A release made with a schema.
        formula : str
            Such as "employed ~ age + sex"; the target is a flag, or a category of two levels whose second is the
            positive one.

        Raises
        ------
        InvalidFormula
            If a name was not released, the target is neither, or there is no intercept.

        Guarantee
        ---------
        Post-processing of the release: costs nothing.
        """
        if moments.design is None:
            raise InvalidArgument(
                "These moments were released from arrays; a formula needs a release made with a schema."
            )
        selection = moments.design.select(formula, labels=True)
        return self.describe(moments, selection, formula, target=(2.0, -1.0))
