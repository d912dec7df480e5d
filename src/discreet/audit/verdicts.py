"""What an audit says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet import _checks
from discreet.audit.bounds import epsilon_below, mu_below
from discreet.audit.names import in_a_file, on_a_line
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp, to_json

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.audit.events import Event
    from discreet.privacy.budgets import Budget
    from discreet.privacy.curves.tradeoff import TradeoffFunction

    Floats = NDArray[np.float64]
    Claim = Budget | TradeoffFunction

# Where even a mechanism so many times worse would not be convicted, an audit has seen nothing.
MOST_FACTOR = 10
CONSISTENT, VIOLATED, NO_EVIDENCE = "consistent", "violated", "no evidence"


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """An event, how often it was seen, and what that leaves possible.

    Parameters
    ----------
    event : Event or str
        The set of outputs, or its description.
    n_runs : int
        Runs of each data set that judged it; none of them chose it.
    n_false : int
        Runs of the first data set in the event.
    n_missed : int
        Runs of the second data set that are not.
    alpha, beta : float
        Upper limits of the two probabilities.
    claimed_beta : float
        What the claim says beta must be at least where alpha is at most its limit.
    """

    event: Event | str
    n_runs: int
    n_false: int
    n_missed: int
    alpha: float
    beta: float
    claimed_beta: float

    @property
    def contradicts(self) -> bool:
        """Whether the claim and the limits cannot both be true."""
        return self.beta < self.claimed_beta

    def __str__(self) -> str:
        return (
            f"{self.event}: seen in {self.n_false} of {self.n_runs} runs of the first data set and in "
            f"{self.n_runs - self.n_missed} of {self.n_runs} of the second"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as plain JSON."""
        return {
            "event": str(self.event),
            "n_runs": self.n_runs,
            "n_false": self.n_false,
            "n_missed": self.n_missed,
            "alpha": self.alpha,
            "beta": self.beta,
            "claimed_beta": self.claimed_beta,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdict:
    """What an audit found.

    Parameters
    ----------
    name : str
        Of the mechanism.
    answer : {"consistent", "violated", "no evidence"}
        "violated": the claim is false, but for a chance of 1 - confidence. "consistent": no contradiction, though a
        mechanism that spends `convicts_from` times what it claims would most likely have been convicted; never a
        proof. "no evidence": no contradiction, and the audit would not have seen even a much worse mechanism.
    claim : Budget or TradeoffFunction
        What was claimed.
    evidence : tuple of Evidence
        The events that were judged; the most telling first.
    delta : Fraction
        Where `epsilon` was asked.
    n_runs, n_needed : int
        Runs of each data set; and how many the wanted power asks for where the neighbours show all of what is paid
        for, None where none would do.
    convicts_from : Fraction or None
        The power: from this factor on, that is, with noise so many times smaller, the mechanism would have been
        convicted in nine of ten audits, or as often as was asked. None beside "violated" and "no evidence".
    rehearsed : bool
        Whether the power was found on the mechanism itself with less noise; otherwise its noise was taken for Gaussian
        or Laplace.
    confidence : Fraction
        With this probability everything said here is true.
    curve : ndarray of float64, shape (2, n_points)
        Upper limits of alpha and of beta, along the thresholds of the best score; they hold together.
    seen : ndarray of float64, shape (2, n_points)
        The shares that were seen, for drawing.
    """

    name: str
    answer: str
    claim: Claim
    evidence: tuple[Evidence, ...]
    delta: Fraction
    n_runs: int
    n_needed: int | None
    convicts_from: Fraction | None
    rehearsed: bool
    confidence: Fraction
    curve: Floats
    seen: Floats

    @property
    def violated(self) -> bool:
        """Whether the claim is false."""
        return self.answer == VIOLATED

    @property
    def limits(self) -> tuple[Floats, Floats]:
        """All pairs of limits: of the events and of the curve; together they hold with the stated confidence."""
        alphas = [evidence.alpha for evidence in self.evidence]
        betas = [evidence.beta for evidence in self.evidence]
        return np.append(self.curve[0], alphas), np.append(self.curve[1], betas)

    def epsilon(self, delta: Any = None) -> float:
        """Return a lower limit of the epsilon of the mechanism, in nats, for either order of the neighbours.

        Parameters
        ----------
        delta : number or text, optional
            In [0, 1); the verdict's own where None. Any number of them may be asked: the limits hold for all.
        """
        at = self.delta if delta is None else _checks.exact_delta(delta)
        return float(epsilon_below(*self.limits, float(at)).max())

    def least_delta(self, epsilon: Any) -> float:
        """Return a lower limit of the delta of the mechanism at `epsilon` >= 0."""
        slope = np.exp(float(_checks.exact_nonnegative(epsilon, "epsilon"))) * (1 + 1e-12)
        alphas, betas = self.limits
        found = np.maximum(1 - betas - slope * alphas, 1 - alphas - slope * betas)
        return max(0.0, float(found.max()) - 1e-12)

    def mu(self) -> float:
        """Return a lower limit of the mu of the mechanism."""
        return float(mu_below(*self.limits).max())

    def violation(self) -> float:
        """Return a lower limit of how far the mechanism's errors fall below the claimed curve; 0 if nowhere surely."""
        alphas, betas = self.limits
        return max(0.0, float((curve_of(self.claim).beta(alphas) - betas).max()))

    def __str__(self) -> str:
        found = f"epsilon at least {self.epsilon():.3g} at delta {float(self.delta):.3g}, mu at least {self.mu():.3g}"
        line = f"{on_a_line(self.name)}: {self.answer}; claims {claim_text(self.claim)}; {found}; {self.n_runs} runs"
        return f"{line}; {self.evidence[0] if self.violated else self.power_text()}"

    def power_text(self) -> str:
        """Return from what factor on the mechanism would have been convicted, in words."""
        if self.convicts_from is not None:
            model = "" if self.rehearsed else " if its noise is Gaussian or Laplace"
            return f"would convict from {float(self.convicts_from):g} times{model}"
        if self.violated:
            return "convicted"
        needed = "no number of runs will do" if self.n_needed is None else f"at least {self.n_needed} runs needed"
        return f"would not convict even {MOST_FACTOR} times what is claimed; {needed}"

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON: exact numbers as texts, limits as numbers."""
        claim = to_json(self.claim) if isinstance(self.claim, (Pure, Approx, Zcdp, Gdp)) else repr(self.claim)
        return {
            "name": in_a_file(self.name),
            "answer": self.answer,
            "claim": claim,
            "epsilon": self.epsilon(),
            "delta": str(self.delta),
            "mu": self.mu(),
            "violation": self.violation(),
            "n_runs": self.n_runs,
            "n_needed": self.n_needed,
            "convicts_from": None if self.convicts_from is None else float(self.convicts_from),
            "rehearsed": self.rehearsed,
            "confidence": str(self.confidence),
            "evidence": [evidence.to_json() for evidence in self.evidence],
            "curve": {"alpha": self.curve[0].tolist(), "beta": self.curve[1].tolist()},
        }


def claim_text(claim: Claim) -> str:
    """Return a claim in a few digits; a budget's exact numbers may be long.

    Examples
    --------
    >>> claim_text(Approx(epsilon="1/3", delta="1e-6"))
    'Approx(epsilon=0.3333, delta=1e-06)'
    """
    if isinstance(claim, Gdp):
        return f"Gdp(mu={float(claim.mu):.4g})"
    if not isinstance(claim, (Pure, Approx, Zcdp)):
        return repr(claim)
    numbers = zip(claim.fields, claim.coordinates, strict=True)
    return f"{type(claim).__name__}({', '.join(f'{name}={float(number):.4g}' for name, number in numbers)})"


def curve_of(claim: Claim) -> TradeoffFunction:
    """Return the curve that a claim promises."""
    return claim.tradeoff() if isinstance(claim, (Pure, Approx, Zcdp, Gdp)) else claim
