"""What a release may give away: exact values in four currencies.

========  ==============================  =========================================================
currency  reads                           sums by
========  ==============================  =========================================================
`Pure`    epsilon-DP                      epsilon
`Approx`  (epsilon, delta)-DP             epsilon and delta, each
`Zcdp`    rho-zero-concentrated DP        rho
`Gdp`     mu-Gaussian DP                  mu squared (root-sum-square)
========  ==============================  =========================================================

All numbers are rationals: a float is read by its shortest decimal form, so that ten times ``Zcdp(rho=0.1)`` is
exactly ``Zcdp(rho=1)``. Budgets of one currency are ordered; budgets of two currencies meet in `accounting.convert`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from discreet import _checks
from discreet.errors import InvalidArgument, InvalidType
from discreet.numbers.roots import rational_root, root_up

if TYPE_CHECKING:
    from discreet.privacy.curves.tradeoff import TradeoffFunction


class _Currency:
    """What the four currencies share: everything follows from a vector of exact coordinates that add up."""

    __slots__ = ()
    fields: ClassVar[tuple[str, ...]]

    @property
    def coordinates(self) -> tuple[Fraction, ...]:
        """The exact numbers that add up when releases are composed."""
        return tuple(getattr(self, name) for name in self.fields)

    @classmethod
    def from_coordinates(cls, coordinates: tuple[Fraction, ...]) -> Self:
        """Return the budget with these coordinates, the inverse of `coordinates`."""
        return cls(**dict(zip(cls.fields, coordinates, strict=True)))

    @classmethod
    def zero(cls) -> Self:
        """Return the budget of a release that gives nothing away."""
        return cls.from_coordinates((Fraction(0),) * len(cls.fields))

    @property
    def is_zero(self) -> bool:
        """Whether nothing at all may be given away."""
        return not any(self.coordinates)

    def __add__(self, other: object) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        pairs = zip(self.coordinates, other.coordinates, strict=True)
        return type(self).from_coordinates(tuple(a + b for a, b in pairs))

    def __sub__(self, other: object) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        pairs = zip(self.coordinates, other.coordinates, strict=True)
        return type(self).from_coordinates(tuple(a - b for a, b in pairs))

    def __le__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(a <= b for a, b in zip(self.coordinates, other.coordinates, strict=True))

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self <= other and self != other

    def __ge__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return other.__le__(self)

    def __gt__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return other.__lt__(self)

    def tradeoff(self) -> TradeoffFunction:
        """Return how well two neighbours can be told apart by any release of this cost.

        The curve answers `beta(alpha)`, `delta(epsilon)` and `epsilon(delta)`, each rounded to the safe side.
        """
        # Curves are imported when somebody asks: a budget is a plain value, and most never draw one.
        return self._curve()

    def _curve(self) -> TradeoffFunction:
        from discreet.privacy.curves.families import EpsilonDelta

        epsilon, delta = (*self.coordinates, Fraction(0))[:2]
        return EpsilonDelta(epsilon=epsilon, delta=delta)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)}" for name in self.fields)
        return f"{type(self).__name__}({inside})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Pure(_Currency):
    """Pure differential privacy.

    Parameters
    ----------
    epsilon : number or text
        Largest log-ratio of the probabilities of any output on two neighbours, in nats, at least 0.

    Raises
    ------
    InvalidArgument
        If `epsilon` is negative, not finite or no number.

    Examples
    --------
    >>> Pure(epsilon=0.1) + Pure(epsilon="1/5")
    Pure(epsilon=3/10)
    """

    fields: ClassVar[tuple[str, ...]] = ("epsilon",)
    epsilon: Fraction

    def __init__(self, *, epsilon: Any) -> None:
        object.__setattr__(self, "epsilon", _checks.exact_nonnegative(epsilon, "epsilon"))

    def delta(self, epsilon: Any) -> Any:
        """Return the least delta at `epsilon` >= 0, rounded up; a float for a float, see `TradeoffFunction.delta`."""
        return self.tradeoff().delta(epsilon)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Approx(_Currency):
    """Approximate differential privacy.

    Budgets of this currency are ordered coordinate by coordinate, so two of them may be incomparable.

    Parameters
    ----------
    epsilon : number or text
        Log-ratio of probabilities on two neighbours, in nats, at least 0.
    delta : number or text
        Probability by which that ratio may fail, `0 <= delta < 1`.

    Raises
    ------
    InvalidArgument
        If `epsilon` is negative or `delta` is not in [0, 1), or one is not finite or no number.

    Examples
    --------
    >>> Approx(epsilon=1, delta=1e-6)
    Approx(epsilon=1, delta=1/1000000)
    """

    fields: ClassVar[tuple[str, ...]] = ("epsilon", "delta")
    epsilon: Fraction
    delta: Fraction

    def __init__(self, *, epsilon: Any, delta: Any) -> None:
        object.__setattr__(self, "epsilon", _checks.exact_nonnegative(epsilon, "epsilon"))
        object.__setattr__(self, "delta", _checks.exact_delta(delta))


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Zcdp(_Currency):
    """Zero-concentrated differential privacy.

    Parameters
    ----------
    rho : number or text
        The Renyi divergence of order alpha between the outputs on two neighbours is at most `alpha * rho`,
        in nats, for every alpha > 1; at least 0.

    Raises
    ------
    InvalidArgument
        If `rho` is negative, not finite or no number.

    Examples
    --------
    >>> sum([Zcdp(rho=0.1)] * 10, start=Zcdp(rho=0)) == Zcdp(rho=1)
    True
    """

    fields: ClassVar[tuple[str, ...]] = ("rho",)
    rho: Fraction

    def __init__(self, *, rho: Any) -> None:
        object.__setattr__(self, "rho", _checks.exact_nonnegative(rho, "rho"))

    def _curve(self) -> TradeoffFunction:
        from discreet.privacy.curves.concentrated import ConcentratedCurve

        return ConcentratedCurve(self.rho)

    def delta(self, epsilon: Any) -> Any:
        """Return the least delta at `epsilon` >= 0, rounded up; a float for a float, see `TradeoffFunction.delta`."""
        return self.tradeoff().delta(epsilon)

    def epsilon(self, delta: Any) -> Any:
        """Return the least epsilon at `delta`, rounded up; a float for a float, see `TradeoffFunction.epsilon`."""
        return self.tradeoff().epsilon(delta)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Gdp(_Currency):
    """Gaussian differential privacy.

    Two neighbours are no easier to tell apart than N(0, 1) and N(mu, 1). The square of mu is what is kept and what
    adds up; it is always exact, also where mu itself is irrational.

    Parameters
    ----------
    mu : number or text
        Distance of the two Gaussians in standard deviations, at least 0.

    Raises
    ------
    InvalidArgument
        If `mu` is negative, not finite or no number.

    Examples
    --------
    >>> Gdp(mu=0.3) + Gdp(mu=0.4)
    Gdp(mu=1/2)
    >>> Gdp(mu=1) + Gdp(mu=1)
    Gdp.from_squared(2)
    >>> round(Gdp(mu=1).delta(1.0), 6)
    0.126937
    """

    fields: ClassVar[tuple[str, ...]] = ("mu_squared",)
    mu_squared: Fraction

    def __init__(self, *, mu: Any) -> None:
        object.__setattr__(self, "mu_squared", _checks.exact_nonnegative(mu, "mu") ** 2)

    @classmethod
    def from_squared(cls, mu_squared: Any) -> Self:
        """Return the budget whose mu is the root of `mu_squared`, at least 0."""
        budget = cls.__new__(cls)
        object.__setattr__(budget, "mu_squared", _checks.exact_nonnegative(mu_squared, "mu_squared"))
        return budget

    @classmethod
    def from_coordinates(cls, coordinates: tuple[Fraction, ...]) -> Self:
        """Return the budget with these coordinates, the inverse of `coordinates`."""
        (mu_squared,) = coordinates
        return cls.from_squared(mu_squared)

    @property
    def mu(self) -> Fraction:
        """The root of `mu_squared`: exact where it is rational, else rounded up by at most 2**-96 of itself."""
        return root_up(self.mu_squared)

    def _curve(self) -> TradeoffFunction:
        from discreet.privacy.curves.families import GaussianCurve

        return GaussianCurve(self.mu_squared)

    def delta(self, epsilon: Any) -> Any:
        """Return the least delta at `epsilon` >= 0, rounded up; a float for a float, see `TradeoffFunction.delta`."""
        return self.tradeoff().delta(epsilon)

    def epsilon(self, delta: Any) -> Any:
        """Return the least epsilon at `delta`, rounded up; a float for a float, see `TradeoffFunction.epsilon`."""
        return self.tradeoff().epsilon(delta)

    def __repr__(self) -> str:
        exact = rational_root(self.mu_squared)
        return f"Gdp.from_squared({self.mu_squared})" if exact is None else f"Gdp(mu={exact})"


Budget = Pure | Approx | Zcdp | Gdp
Currency = type[Pure] | type[Approx] | type[Zcdp] | type[Gdp]
CURRENCIES: dict[str, Currency] = {"Pure": Pure, "Approx": Approx, "Zcdp": Zcdp, "Gdp": Gdp}
# Where the parameter of a budget that is used may lie. Sums and rests of ledgers may lie outside.
_LEAST, _MOST = Fraction(1, 10**30), Fraction(10**30)
_LIMITS_OF_SQUARES = (_LEAST**2, _MOST**2)
_LARGEST_DELTA = Fraction(99, 100)
# Python writes no whole number of more than 4300 digits.
_MOST_BITS = 14_000
_EXAMPLES = "Pure(epsilon=...), Approx(epsilon=..., delta=...), Zcdp(rho=...) or Gdp(mu=...)"


def check_value(value: object, name: str = "budget") -> Budget:
    """Return `value` if it is a budget, zero included."""
    if isinstance(value, _Currency):
        return cast("Budget", value)
    if isinstance(value, type) and issubclass(value, _Currency):
        found = f"the bare class {value.__name__}"
    else:
        found = type(value).__name__
    raise InvalidType(f"`{name}` must be {_EXAMPLES}; found {found}. A bare number does not say which guarantee.")


def check_budget(value: object, name: str = "budget") -> Budget:
    """Return `value` if it is a budget that a release or a ledger can use, that is, not zero.

    Parameters
    ----------
    value : Budget
        What was given.
    name : str
        Argument to name in the error.

    Raises
    ------
    InvalidType
        If `value` is no budget, such as a bare number.
    InvalidArgument
        If it is zero: nothing can be released for it. Zero never means that protection is off. If it is so extreme
        that neither a price nor a noise can be computed: outside of 1e-30 to 1e30, or a delta above 0.99.

    Examples
    --------
    >>> check_budget(Pure(epsilon="1/2"))
    Pure(epsilon=1/2)
    """
    budget = check_value(value, name)
    parameter = "mu" if isinstance(budget, Gdp) else budget.fields[0]
    first = budget.coordinates[0]
    if first == 0:
        raise InvalidArgument(
            f"`{name}` must have {parameter} > 0; found {budget!r}, for which nothing can be released. "
            f"Give {parameter} a positive value."
        )
    # Numbers far from the limits, which nearly all are, are compared by their digits: files hold thousands of them.
    is_near_one = abs(first.numerator.bit_length() - first.denominator.bit_length()) < 90
    low, high = _LIMITS_OF_SQUARES if isinstance(budget, Gdp) else (_LEAST, _MOST)
    if not is_near_one and not low <= first <= high:
        found = "a larger one" if first > high else "a smaller one"
        raise InvalidArgument(
            f"`{name}` must have {parameter} between 1e-30 and 1e30; found {found}, for which there is no noise. "
            f"Give {parameter} a value nearer to 1."
        )
    if isinstance(budget, Approx) and not budget.delta <= _LARGEST_DELTA:
        raise InvalidArgument(
            f"`{name}` must have delta of at most 0.99; found a larger one, which promises next to nothing. "
            "Give delta a value below 1 over the number of rows."
        )
    if any(max(x.numerator.bit_length(), x.denominator.bit_length()) > _MOST_BITS for x in budget.coordinates):
        raise InvalidArgument(
            f"`{name}` must have numbers of at most {_MOST_BITS} binary digits; found more. "
            f"Give {parameter} as a decimal or a short fraction."
        )
    return budget


def is_pure(budget: Budget) -> bool:
    """Whether a budget is pure: in Pure, or in Approx with a delta of 0.

    Examples
    --------
    >>> is_pure(Approx(epsilon=1, delta=0))
    True
    """
    return isinstance(budget, Pure) or (isinstance(budget, Approx) and budget.delta == 0)


def check_currency(value: object, name: str = "currency") -> Currency:
    """Return `value` if it is one of the four budget classes."""
    for currency in CURRENCIES.values():
        if value is currency:
            return currency
    raise InvalidType(f"`{name}` must be one of the classes Pure, Approx, Zcdp, Gdp; found {type(value).__name__}.")


def to_json(budget: Budget) -> dict[str, str]:
    """Return a budget as plain JSON, its numbers as exact texts.

    Examples
    --------
    >>> to_json(Pure(epsilon=0.1))
    {'currency': 'Pure', 'epsilon': '1/10'}
    """
    numbers = zip(budget.fields, budget.coordinates, strict=True)
    return {"currency": type(budget).__name__} | {name: str(number) for name, number in numbers}


def budget_from_json(document: object) -> Budget:
    """Return the budget that `to_json` wrote.

    Raises
    ------
    InvalidArgument
        If the currency is unknown, a number is missing, is not a text, or there is something more.

    Examples
    --------
    >>> budget_from_json({"currency": "Gdp", "mu_squared": "1/4"})
    Gdp(mu=1/2)
    """
    name = document.get("currency") if isinstance(document, dict) else None
    currency = CURRENCIES.get(name) if isinstance(name, str) else None
    if currency is None or not isinstance(document, dict):
        raise InvalidArgument(f"A stored budget must have `currency`, one of {', '.join(CURRENCIES)}.")
    texts = tuple(document.get(field) for field in currency.fields)
    if set(document) != {"currency", *currency.fields} or not all(isinstance(text, str) for text in texts):
        raise InvalidArgument(f"A stored {name} must have exactly {', '.join(currency.fields)}, as texts.")
    numbers = zip(currency.fields, texts, strict=True)
    return currency.from_coordinates(tuple(_checks.exact(text, field) for field, text in numbers))
