"""The synthetic settings on which other programs were measured: their best is the target."""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.estimators.front_door import LinearRegression, LogisticRegression

pytestmark = pytest.mark.nightly

# X uniform on [-1, 1]^13, noise 0.2, delta = n**-1.5, AddRemove: excess over least squares, the best that was reached.
LINEAR = {
    (10_000, "0.1"): 4.5e-4,
    (10_000, "0.5"): 1.9e-5,
    (10_000, "1"): 7.2e-6,
    (10_000, "3.2"): 2.5e-6,
    (100_000, "0.1"): 6.5e-6,
    (100_000, "0.5"): 1.9e-6,
    (100_000, "1"): 2.0e-6,
    (100_000, "3.2"): 2.2e-6,
}
# Misses, with what was measured. Errors are symmetric here, which no public fact tells; even a fixed clip chosen for
# them in hindsight has 4.0e-4, 1.9e-5, 9e-6 and 5e-6: docs/false-today.md.
MISSED = {
    (10_000, "0.1"): 8.7e-4,
    (10_000, "0.5"): 4.8e-5,
    (10_000, "1"): 1.5e-5,
    (100_000, "0.1"): 1.6e-5,
}
# Labels by a logistic law with |w| = 4: excess log loss over maximum likelihood.
LOGISTIC = {
    (10_000, "0.1"): 0.011,
    (10_000, "0.5"): 0.0044,
    (10_000, "1"): 0.0042,
    (10_000, "3.2"): 0.0042,
    (100_000, "0.5"): 4e-4,
}


def direction(seed, size):
    w = np.random.default_rng(seed).normal(size=13)
    return size * w / np.linalg.norm(w)


def fitted(kind, n, epsilon, X, y, seed, **declared):
    budget = dp.Approx(epsilon=epsilon, delta=f"{n**-1.5:.6e}")
    model = kind(
        budget=budget,
        adjacency=dp.AddRemove(),
        expected_rows=n,
        x_bounds=dp.Box(lower=-1, upper=1),
        **declared,
    )
    ledger = dp.Ledger(
        total=budget, adjacency=dp.AddRemove(), coins=dp.privacy.Coins.from_seed(seed), composition="sum"
    )
    return model.fit(X, y, ledger=ledger)


def _linear():
    for setting, target in LINEAR.items():
        missed = MISSED.get(setting)
        marks = () if missed is None else pytest.mark.xfail(strict=True, reason=f"a miss: {missed}, target {target}")
        yield pytest.param(setting, target, id=repr(setting), marks=marks)


@pytest.mark.parametrize(("setting", "target"), list(_linear()))
def test_linear_excess_is_below_what_peers_reached(setting, target):
    """Median of ten tables; the risk is that of the true law, in closed form: a third of the squared distance."""
    (n, epsilon), w, excess = setting, direction(0, 0.6), []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(n, 13))
        y = X @ w + rng.normal(0, 0.2, n)
        A = np.column_stack([np.ones(n), X])
        plain = np.linalg.lstsq(A, y, rcond=None)[0]
        model = fitted(LinearRegression, n, epsilon, X, y, seed, y_bounds=dp.Interval(-1.5, 1.5))
        risks = [
            constant**2 + np.sum((coef - w) ** 2) / 3
            for constant, coef in ((model.intercept_, model.coef_), (plain[0], plain[1:]))
        ]
        excess.append(risks[0] - risks[1])
    assert np.median(excess) <= target


@pytest.mark.parametrize(("setting", "target"), LOGISTIC.items(), ids=repr)
def test_logistic_excess_is_below_what_peers_reached(setting, target):
    """Median of ten tables; the mean log loss on the rows over that of maximum likelihood."""
    (n, epsilon), w, excess = setting, direction(1, 4.0), []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-1, 1, size=(n, 13))
        y = (rng.random(n) < 1 / (1 + np.exp(-X @ w))).astype(int)
        A = np.column_stack([np.ones(n), X])
        best = np.zeros(14)
        for _ in range(30):
            p = 1 / (1 + np.exp(-A @ best))
            best += np.linalg.solve((A * (p * (1 - p))[:, None]).T @ A, A.T @ (y - p))
        model = fitted(LogisticRegression, n, epsilon, X, y, seed, classes=(0, 1))
        found = np.concatenate([model.intercept_, model.coef_[0]])
        losses = [float(np.mean(np.logaddexp(0, A @ v) - y * (A @ v))) for v in (found, best)]
        excess.append(losses[0] - losses[1])
    assert math.isfinite(np.median(excess))
    assert np.median(excess) <= target
