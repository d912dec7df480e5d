"""Every exception that discreet raises on purpose.

The tree::

    DiscreetError
    ├── InvalidArgument      (also ValueError)   an argument or a declaration is not usable
    │   └── InvalidType      (also TypeError)    it is not even of a usable type
    ├── InvalidData          (also ValueError)   the data do not fit their declaration
    ├── InvalidFormula       (also ValueError)   a formula says something we do not fit
    ├── BudgetExceeded       the ledger refuses a charge
    ├── LedgerUnusable       the ledger's file cannot be trusted or written
    ├── NoSoundConversion    no theorem turns one currency into the other
    ├── AdjacencyMismatch    a release and a ledger have different neighbours
    └── IncompatiblePlan     two things do not fit together

What is said without stopping, one category a cause, so that each can be filtered by name::

    DiscreetWarning          (a UserWarning)
    ├── NoLedgerWarning          nothing remembers what a release spends
    ├── ClassLabelsWarning       class labels were read from private rows
    ├── LargeDeltaWarning        a delta above one over the public number of rows
    └── NoiseDominatedWarning    the noise hides what the data say

Messages say what was asked, what was found and what to do.
They name arguments and columns, never a cell's value, and the exceptions carry plain values only.
"""


class DiscreetError(Exception):
    """Base of every exception that discreet raises on purpose."""


class InvalidArgument(DiscreetError, ValueError):  # noqa: N818  (the field's words, not a suffix)
    """An argument or a declaration is not usable."""


class InvalidType(InvalidArgument, TypeError):  # noqa: N818
    """An argument is not of a usable type."""


class InvalidData(DiscreetError, ValueError):  # noqa: N818
    """The data do not fit what was declared about them; names the column, never a cell."""


class InvalidFormula(DiscreetError, ValueError):  # noqa: N818
    """A formula names an unknown column or uses what we do not fit."""


class BudgetExceeded(DiscreetError):  # noqa: N818
    """The ledger refuses a charge: less is left than was asked."""


class LedgerUnusable(DiscreetError):  # noqa: N818
    """The ledger's file is missing, corrupt, locked or not writable, so nothing can be charged."""


class NoSoundConversion(DiscreetError):  # noqa: N818
    """No theorem turns the one currency into the other."""


class AdjacencyMismatch(DiscreetError):  # noqa: N818
    """A release and its ledger have different neighbours."""


class IncompatiblePlan(DiscreetError):  # noqa: N818
    """Two things that were put together do not fit; the message names both."""


class DiscreetWarning(UserWarning):
    """Base of every warning that discreet gives; none depends on a private value but through a release."""


class NoLedgerWarning(DiscreetWarning):
    """Nothing remembers what a release spends, for no ledger was given; said once a process."""


class ClassLabelsWarning(DiscreetWarning):
    """Class labels were not declared, so they are read from private rows, which no budget pays for."""


class LargeDeltaWarning(DiscreetWarning):
    """The delta of a budget is above one over the public number of rows."""


class NoiseDominatedWarning(DiscreetWarning):
    """The noise hides the weakest direction of the data; a function of the release alone, so it tells nothing more."""
