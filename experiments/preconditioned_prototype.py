"""Preconditioned descent in floats: what `discreet.descent.preconditioned.plan` does, made to be fast.

Nothing here is private: noise is drawn from NumPy's generators and sums are floats. The scripts beside it use it to
find default settings and to compare methods, thousands of fits at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
# As `discreet.descent.preconditioned.links`: the mean of a count is at most e times its upper bound.
LARGEST_LOG_MEAN = 1.0
LEAST_MEAN = 1e-3


@dataclass(frozen=True)
class Cost:
    """What a fit may spend, and between whom: GDP with `mu`, or pure with `epsilon`; `distance` 2 replaces, 1 adds."""

    mu: float = 0.0
    epsilon: float = 0.0
    distance: int = 2

    def step(self, clip: float, p: int, share: float, rng: np.random.Generator) -> Array:
        """Return the noise of a sum of p entries, each row of which has norm at most `clip`."""
        if self.epsilon:
            direction = rng.normal(size=p)
            radius = rng.gamma(p, self.distance * clip / (self.epsilon * share))
            return radius * direction / np.linalg.norm(direction)
        return rng.normal(0, self.distance * clip / math.sqrt(share) / self.mu, p)

    def count(self, share: float, rng: np.random.Generator) -> tuple[float, float]:
        """Return the noise of a count, which any change of one row changes by at most 1, and its deviation."""
        if self.epsilon:
            scale = 1 / (self.epsilon * share)
            return rng.laplace(0, scale), scale * math.sqrt(2)
        deviation = 1 / math.sqrt(share) / self.mu
        return rng.normal(0, deviation), deviation


@dataclass(frozen=True)
class Knobs:
    """Every setting that was tried; with `count_share` above 0 the clip follows a noisy count of clipped rows."""

    gram_share: float = 0.15
    clip: float = 2.0
    n_steps: int = 12
    step_size: float = 0.8
    warm: bool = False
    floor: float = 1.0
    count_share: float = 0.0
    target: float = 0.0
    gain: float = 0.5
    average_from: float = 0.5
    momentum: float = 0.0
    growth: float = 1.0


def noisy_gram(
    V: Array, norm_squared: float, cost: Cost, share: float, rng: np.random.Generator
) -> tuple[Array, float]:
    """Return V'V plus noise, and the noise's standard deviation off the diagonal."""
    D = V.shape[1]
    G = V.T @ V
    if cost.epsilon:
        theta = cost.epsilon * share / (norm_squared * cost.distance)
        A, B = rng.normal(0, math.sqrt(1 / (2 * theta)), (2, D + 1, D))
        return G + A.T @ A - B.T @ B, math.sqrt((D + 1) / 2) / theta
    sigma = norm_squared * math.sqrt(cost.distance) / (cost.mu * math.sqrt(share))
    E = np.triu(rng.normal(0, sigma / math.sqrt(2), (D, D)), 1)
    return G + E + E.T + np.diag(rng.normal(0, sigma, D)), sigma / math.sqrt(2)


def residual(loss: str, margin: Array, y: Array) -> Array:
    """Return the derivative of a row's loss by its margin."""
    if loss == "squared":
        return margin - y
    if loss == "logistic":
        return 0.5 * (1 + np.tanh(margin / 2)) - y
    return np.exp(np.minimum(margin, LARGEST_LOG_MEAN)) - y


def adaptive_ridge(M: Array, b: Array, noise_norm: float) -> Array:
    """Return the least squares of noisy moments, whose least eigenvalue is lifted to `noise_norm`."""
    least = np.linalg.eigvalsh(M)[0]
    return np.linalg.solve(M + max(0.0, noise_norm - least) * np.eye(len(M)), b)


def fit(A: Array, y: Array, loss: str, *, norm_squared: float, cost: Cost, k: Knobs, rng: np.random.Generator) -> Array:
    """Return the coefficients of one fit; `y` is in [-1, 1], in {0, 1}, or a count over its bound in [0, 1].

    The first column of `A` is the constant 1. `norm_squared` is the largest of a row with its target.
    """
    n, p = A.shape
    G, deviation = noisy_gram(
        np.column_stack([A, 2 * y - 1 if loss == "logistic" else y]), norm_squared, cost, k.gram_share, rng
    )
    e, U = np.linalg.eigh(G[:p, :p] / n)
    low = k.floor * 2 * deviation * math.sqrt(p) / n
    P = (U / np.sqrt(np.maximum(e, low))) @ U.T
    v, step = np.zeros(p), k.step_size
    if loss == "poisson":
        mean = min(max(G[0, p] / n, 2 * deviation / n, LEAST_MEAN), 1.0)
        start = min(max(G[0, p] / n, deviation / 2 / n, LEAST_MEAN), 1.0)
        v = np.linalg.solve(P, np.eye(p)[0] * math.log(start))
        step = k.step_size / mean
    elif k.warm:
        start = adaptive_ridge(G[:p, :p] / n, G[:p, p] / n, low)
        v = np.linalg.solve(P, start * (2 if loss == "logistic" else 1))
    return P @ _steps(A @ P, y, loss, cost=cost, k=k, rng=rng, v=v, step=step)


def _steps(
    Z: Array, y: Array, loss: str, *, cost: Cost, k: Knobs, rng: np.random.Generator, v: Array, step: float
) -> Array:
    n, p = Z.shape
    norm = np.sqrt(np.einsum("ij,ij->i", Z, Z))
    parts = k.growth ** np.arange(k.n_steps)
    parts /= parts.sum()
    share = 1 - k.gram_share - k.count_share
    clip, total, weight, velocity = k.clip, np.zeros(p), 0.0, np.zeros(p)
    first = min(math.ceil(k.average_from * k.n_steps), k.n_steps - 1)
    for t in range(k.n_steps):
        r = residual(loss, Z @ v, y)
        size = np.abs(r) * norm
        gradient = Z.T @ (r * np.minimum(1, clip / np.maximum(size, 1e-300))) + cost.step(
            clip, p, share * parts[t], rng
        )
        velocity = k.momentum * velocity + gradient / n
        v = v - step * velocity
        if k.count_share:
            noise, deviation = cost.count(k.count_share / k.n_steps, rng)
            ratio = min(max((np.sum(size > clip) + noise + deviation) / (k.target + deviation), 0.25), 16.0)
            clip *= ratio ** (k.gain / (1 + t / 8))
        if t >= first:
            here = parts[t] ** 2 if cost.epsilon else parts[t]
            total = total + here * v
            weight += here
    return total / weight
