"""How long a rejection sampler runs: the policies, and what each gives away of output and running time together.

Every policy draws proposals in blocks, evaluates whole blocks, and never leaves one early.

=====================  ===================  ======================  ================================
policy                 output               proposals               output and time together
=====================  ===================  ======================  ================================
`CoolDown` (default)   exact                block * (Geom + wait)   pure: epsilon + 1e-6 at most
`Truncated`            exact, or a default  one block, always       (epsilon, delta)
`BlockRestart`         exact                block * Geom            (epsilon, delta)
`ConstantAcceptance`   exact                Geom(p0)                pure where the normalizer is exact
`Squeeze`              exact                Geom(squeeze)           pure, by its joint law; dear
`Plain`                exact                Geom(p of the data)     (epsilon', delta): the clock is paid for
=====================  ===================  ======================  ================================

Source: Awan and Rao 2023, Privacy-Aware Rejection Sampling, for truncation, constant acceptance and squeeze; block
restart and cool-down are this project's. Proof: docs/proofs/sampling.md
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from discreet import _checks
from discreet.errors import IncompatiblePlan, InvalidArgument, InvalidType
from discreet.privacy.budgets import Approx, Budget
from discreet.privacy.events.sampling import Runtime, block_length

if TYPE_CHECKING:
    from discreet.sampling.targets.targets import ScaledTarget

_HALF = Fraction(1, 2)
# What rounding adds to a thinned acceptance: a sum of logarithms of size 1,500 at most.
THINNING_ERROR = Fraction(1, 2**40)


@dataclass(frozen=True, kw_only=True)
class PolicyTerms:
    """What a policy decides by; all of it public.

    Parameters
    ----------
    scaled : ScaledTarget
        What is drawn from.
    acceptance : Fraction
        Its proved acceptance with the error of evaluation taken off.
    budget : Budget
        What may be spent; a delta of it may be used.
    n_draws : int
        How many draws share the budget.
    """

    scaled: ScaledTarget
    acceptance: Fraction
    budget: Budget
    n_draws: int


@dataclass(frozen=True, kw_only=True)
class Policy(ABC):
    """A rule that says how long to run, fixed before any row is seen."""

    kind: ClassVar[str]
    # Settings are numbers between 0 and 1; whether 1 is one of them.
    _may_be_one: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.default is not None or getattr(self, field.name) is not None:
                _checks.check_fields(self, _part if self._may_be_one else _open_unit, field.name)

    @abstractmethod
    def runtime(self, terms: PolicyTerms) -> Runtime:
        """Return the public numbers of a run: block length and what else its law has.

        Raises
        ------
        IncompatiblePlan
            If target or budget do not allow this policy.
        """


def check_policy(value: Any) -> Policy:
    """Return `value` if it is a policy."""
    if isinstance(value, Policy):
        return value
    raise InvalidType(
        f"`runtime` must be one of CoolDown(), Truncated(), BlockRestart(), ConstantAcceptance(), Squeeze(), Plain(); "
        f"found {type(value).__name__}."
    )


def _open_unit(value: Any, name: str) -> Fraction:
    number = _checks.exact_positive(value, name)
    if number < 1:
        return number
    raise InvalidArgument(f"`{name}` must satisfy 0 < {name} < 1; found {number}.")


def _part(value: Any, name: str) -> Fraction:
    number = _checks.exact_positive(value, name)
    if number <= 1:
        return number
    raise InvalidArgument(f"`{name}` must satisfy 0 < {name} <= 1; found {number}.")


def _delta_for(policy: Policy, wanted: Fraction | None, budget: Budget) -> Fraction:
    if not isinstance(budget, Approx) or budget.delta == 0:
        raise IncompatiblePlan(
            f"{type(policy).__name__} costs a delta, and the budget {budget!r} has none to spend. "
            "Use CoolDown(), or a budget Approx(epsilon=..., delta=...)."
        )
    if wanted is not None and wanted > budget.delta:
        raise IncompatiblePlan(
            f"{type(policy).__name__} wants a delta of {wanted}; {budget!r} has less. Lower `delta`, or raise the "
            "budget's."
        )
    return budget.delta if wanted is None else wanted


@dataclass(frozen=True, kw_only=True)
class CoolDown(Policy):
    """Run blocks until one accepts, then a secret number of further blocks that was drawn before.

    The output is exact. A block is so long that it almost never fails, and what its failures would tell is hidden by
    the wait, so output and number of blocks together are *purely* private.

    Parameters
    ----------
    eta : number or text, default 1e-12
        Chance that some block of a release fails, at most, all draws together; decides the length of a block.
    s : number or text, default 1e-6
        Chance of a further block; more than `eta`.

    Guarantee
    ---------
    Output and number of blocks cost the output's epsilon plus, a draw,
    ``max(-log(1 - h), log((1 - h) / (1 - h / s)))`` with ``h = (1 - acceptance)**block``: at most 1e-6 in all with the
    defaults. Proof: docs/proofs/sampling.md

    Examples
    --------
    >>> CoolDown()
    CoolDown(eta=Fraction(1, 1000000000000), s=Fraction(1, 1000000))
    """

    kind: ClassVar[str] = "cool-down"

    eta: Any = Fraction(1, 10**12)
    s: Any = Fraction(1, 10**6)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.eta < self.s:
            raise InvalidArgument(
                f"`eta` must be below `s`; found {self.eta} and {self.s}. The wait must be longer than what it hides."
            )

    def runtime(self, terms: PolicyTerms) -> Runtime:
        """Return block and wait."""
        return Runtime(
            policy=self.kind, block=block_length(terms.acceptance, self.eta / terms.n_draws), parameter=self.s
        )


@dataclass(frozen=True, kw_only=True)
class Truncated(Policy):
    """Run one block; if it fails, publish the target's public default, and say nothing of it.

    The number of proposals is the same for all data. The answer has the right law but for a chance of delta.

    Parameters
    ----------
    delta : number or text, optional
        Chance of a failure, all draws together; None takes the budget's delta.

    Guarantee
    ---------
    With h the chance of a failure of one draw and a common envelope (epsilon, h), no inflation of epsilon; otherwise
    (epsilon - log(1 - h), h); a draw. Proof: docs/proofs/sampling.md
    """

    kind: ClassVar[str] = "truncated"

    delta: Any = None

    def runtime(self, terms: PolicyTerms) -> Runtime:
        """Return the block."""
        delta = _delta_for(self, self.delta, terms.budget)
        return Runtime(policy=self.kind, block=block_length(terms.acceptance, delta / terms.n_draws))


@dataclass(frozen=True, kw_only=True)
class BlockRestart(Policy):
    """Run blocks until one accepts: one block almost surely, and an exact answer.

    Parameters
    ----------
    eta : number or text, optional
        Chance of a second block, all draws together; None takes the budget's delta.

    Guarantee
    ---------
    (epsilon, h) a draw, h the chance that a block fails. Proof: docs/proofs/sampling.md
    """

    kind: ClassVar[str] = "block-restart"

    eta: Any = None

    def runtime(self, terms: PolicyTerms) -> Runtime:
        """Return the block."""
        eta = _delta_for(self, self.eta, terms.budget)
        return Runtime(policy=self.kind, block=block_length(terms.acceptance, eta / terms.n_draws))


@dataclass(frozen=True, kw_only=True)
class ConstantAcceptance(Policy):
    """Thin acceptances so that every data set accepts equally often; only where the target knows its normalizer.

    Parameters
    ----------
    p0 : number or text, optional
        How often a proposal shall be accepted; None takes the largest that is proved for every data set.

    Guarantee
    ---------
    The number of proposals has the same law for all data and is independent of the output: the output's epsilon. A
    normalizer computed within an error costs a small delta beside, so the budget must have one.
    Proof: docs/proofs/sampling.md
    """

    kind: ClassVar[str] = "constant"
    _may_be_one: ClassVar[bool] = True

    p0: Any = None

    def runtime(self, terms: PolicyTerms) -> Runtime:
        """Return the acceptance probability."""
        if terms.scaled.normalizer_error is None:
            raise IncompatiblePlan("ConstantAcceptance needs a target that knows its normalizer. Use CoolDown().")
        wrong = terms.scaled.normalizer_error and terms.scaled.normalizer_error + THINNING_ERROR
        # Then no thinned probability passes 1.
        most = terms.acceptance * max(Fraction(0), 1 - wrong)
        p0 = most if self.p0 is None else self.p0
        if not 0 < p0 <= most:
            raise IncompatiblePlan(
                f"`p0` must be at most {float(most):.3g}, what this target accepts for every data set; "
                f"found {float(p0):.3g}."
            )
        return Runtime(policy=self.kind, block=1, parameter=p0, wrong=wrong)


@dataclass(frozen=True, kw_only=True)
class Squeeze(Policy):
    """Publish the first acceptance when a squeeze accepts: a time with a law free of the data, but *not* independent.

    Output and time together are dearer than either. A finite price is proved only where acceptance probabilities have
    a public lower bound at every point; any other target is refused.

    Parameters
    ----------
    slack : number or text, default "1/2"
        The squeeze is this part of that lower bound, in (0, 1).

    Guarantee
    ---------
    With ``e`` the largest log-ratio of l and of s of two neighbours and k the largest ratio of their shapes,
    ``e + log(exp(e) + k (1 - exp(-e)))``. Proof: docs/proofs/sampling.md
    """

    kind: ClassVar[str] = "squeeze"

    slack: Any = _HALF

    def runtime(self, terms: PolicyTerms) -> Runtime:
        """Return the squeeze's acceptance probability."""
        if terms.scaled.least_ratio is None or not terms.scaled.common_envelope:
            raise IncompatiblePlan(
                "Squeeze has no proved price for this target: what is between squeeze and target may vanish, and "
                "output and time together then have no bound. Use CoolDown()."
            )
        ratio = terms.scaled.least_ratio * max(Fraction(0), 1 - terms.scaled.error)  # exp(-error) is more
        if not ratio > 0:
            raise IncompatiblePlan("Squeeze has no positive lower bound for this target. Use CoolDown().")
        return Runtime(policy=self.kind, block=1, parameter=self.slack * ratio, slack=self.slack)


@dataclass(frozen=True, kw_only=True)
class Plain(Policy):
    """Run until the first acceptance, and pay for what the clock tells; about eight times dearer at epsilon = 1.

    Parameters
    ----------
    thin : number or text, default 1
        Every acceptance is thinned by this much, in (0, 1]. The clock tells more the more often proposals are
        accepted: a target that may accept all of them has hardly any price but with some thinning.

    Guarantee
    ---------
    The joint curve of output and number of proposals at the budget's delta. Proof: docs/proofs/tradeoff.md
    """

    kind: ClassVar[str] = "plain"
    _may_be_one: ClassVar[bool] = True

    thin: Any = Fraction(1)

    def runtime(self, terms: PolicyTerms) -> Runtime:
        """Return blocks of one proposal."""
        _delta_for(self, None, terms.budget)
        return Runtime(policy=self.kind, block=1, parameter=self.thin)


def policy_to_json(policy: Policy) -> dict[str, Any]:
    """Return a policy as a JSON object: its kind and its exact settings."""
    given = {field.name: getattr(policy, field.name) for field in fields(policy)}
    return {"kind": policy.kind, **{name: None if value is None else str(value) for name, value in given.items()}}


def policy_from_json(document: dict[str, Any]) -> Policy:
    """Return the policy that `policy_to_json` wrote."""
    kinds: dict[str, type[Policy]] = {
        cls.kind: cls for cls in (CoolDown, Truncated, BlockRestart, ConstantAcceptance, Squeeze, Plain)
    }
    return kinds[document["kind"]](**{name: value for name, value in document.items() if name != "kind"})
