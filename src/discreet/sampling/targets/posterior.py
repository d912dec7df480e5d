"""A private draw from a posterior, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.sampling.mechanisms import Draw, sample
from discreet.sampling.targets.common_envelopes import Posterior

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from discreet.privacy.adjacency import Adjacency
    from discreet.privacy.budgets import Budget
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.release import Release
    from discreet.sampling.policies import Policy
    from discreet.sampling.targets.bases import Base


def posterior_draw(
    log_likelihood: Callable[[np.ndarray, np.ndarray], Any],
    data: Any,
    *,
    prior: Base,
    lower: Any,
    upper: Any,
    example: Any,
    budget: Budget,
    adjacency: Adjacency | None = None,
    runtime: Policy | None = None,
    ledger: Ledger | None = None,
    n_draws: int = 1,
) -> Release[Draw]:
    """Draw from a tempered posterior whose per-record log-likelihood has public bounds; the prior is the envelope.

    Parameters
    ----------
    log_likelihood : callable
        Takes points, shape (size, dimension), and all rows, shape (n_rows, n_columns); returns shape (size, n_rows).
        That each value depends on its own row and the point alone is believed, not enforced.
    data : array-like of shape (n_rows, n_columns)
        Private rows.
    prior : Uniform, Normal or Custom
        The prior law.
    lower, upper : number
        Public limits of a record's log-likelihood; what is outside is moved to the nearer one.
    example : array-like
        Public rows with the columns of the data, on which the function is tried.
    budget, adjacency, runtime, ledger, n_draws
        See `sample`.

    Returns
    -------
    Release
        Its value is a `Draw`; the event's `scale` is the power of the likelihood.

    Raises
    ------
    IncompatiblePlan
        If there are too many rows for rejection from the prior (the message says the expected work), or under
        AddRemove, where their number is private; nothing is charged.

    Guarantee
    ---------
    That of `sample`, as far as each value of the function depends on its own row and the point alone: then one record
    changes the log-likelihood by at most ``upper - lower``. Only that values lie within these bounds is enforced.
    Proof: docs/proofs/sampling.md

    Examples
    --------
    >>> from discreet.privacy.adjacency import Replace
    >>> from discreet.privacy.budgets import Pure
    >>> from discreet.sampling.targets.bases import Normal
    >>> def log_likelihood(points, rows):
    ...     return -((points - rows.T) ** 2) / 2
    >>> drawn = posterior_draw(log_likelihood, [[0.1], [0.3], [0.2]], prior=Normal(center=0, spread=1), lower=-2,
    ...                        upper=0, example=[[0.0]], budget=Pure(epsilon=1), adjacency=Replace())
    >>> drawn.value.point.shape
    (1,)
    """
    target = Posterior(log_likelihood=log_likelihood, lower=lower, upper=upper, prior=prior, example=example)
    return sample(target, data, budget=budget, adjacency=adjacency, runtime=runtime, ledger=ledger, n_draws=n_draws)
