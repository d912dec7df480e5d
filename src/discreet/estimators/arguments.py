"""Parameters of estimators: declared once, and what scikit-learn calls otherwise refused by name, with advice."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast, dataclass_transform

from discreet.errors import InvalidType
from discreet.lattice.bounds import Box, Interval

# Arguments of scikit-learn's estimators that a private fit cannot honour, and what to do instead.
UNSUPPORTED = {
    "random_state": "noise is not seedable; for a test fit with Ledger(total=, adjacency=, coins=Coins.from_seed(0))",
    "sample_weight": "weights change the sensitivity, and no maximum is declared; leave them out",
    "class_weight": "weights change the sensitivity; leave them out",
    "warm_start": "every fit is a release of its own and is charged anew; leave it out",
    "penalty": "the ridge is found from the noise; leave it out",
    "n_jobs": "the work is one matrix product; leave it out",
    "epsilon": "a guarantee is a value: write budget=Pure(epsilon=...)",
    "bounds": "bounds are declared as x_bounds=Box(lower=, upper=) and y_bounds=Interval(lower, upper)",
}


F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type[Any])


@dataclass_transform(kw_only_default=True, eq_default=False)
def with_parameters(cls: C) -> C:
    """Make the annotated names of an estimator's body its keyword-only parameters, beside those of its bases.

    As scikit-learn wants it, the constructor sets them and does nothing else; other names are refused with advice.
    """
    made: Any = dataclass(kw_only=True, eq=False, repr=False)(cls)
    made.__init__ = refusing_others(made.__init__)
    return cast("C", made)


def refusing_others(function: F) -> F:
    """Let a constructor or method refuse arguments that it does not have by name, and say what to do instead.

    The signature stays as it is written, since scikit-learn reads it.
    """
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def checked(self: Any, *arguments: Any, **named: Any) -> Any:
        for name in named:
            if name not in known:
                own = getattr(type(self), "_instead", {})  # an estimator's own advice goes before
                advice = own.get(name) or UNSUPPORTED.get(name, "see its documentation for the arguments it has")
                raise InvalidType(f"{type(self).__name__} has no argument `{name}`: {advice}.")
        return function(self, *arguments, **named)

    return cast("F", checked)


def box_of(model: Any) -> Box:
    """Return the declared bounds of an estimator's rows; refuse what bounds none."""
    found = model.x_bounds
    if isinstance(found, Box):
        return found
    if isinstance(found, Interval):
        raise InvalidType(
            f"{type(model).__name__} needs `x_bounds` for whole rows; Interval bounds one number. "
            "Use Box(lower=..., upper=...)."
        )
    raise InvalidType(f"`x_bounds` must be a Box(lower=..., upper=...); found {type(found).__name__}.")
