"""The parametric bootstrap of a regression on a noisy Gram matrix, with public randomness."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.functional.noise_laws import noise_draws

if TYPE_CHECKING:
    from collections.abc import Iterator

    from discreet.functional.gram import NoisyGram
    from discreet.functional.least_squares import LeastSquares
    from discreet.lattice.gram_noise import GramEvent
    from discreet.lattice.grid import Layout

N_DRAWS = 999
# Draws are made in batches that fit a processor's memory, whatever the width.
_BATCH_ENTRIES = 1 << 21


def public_seed(noisy: NoisyGram) -> int:
    """Return a seed that is a function of the released entries, so that an interval never changes."""
    # Little-endian on every machine: the same release gives the same intervals everywhere.
    text = noisy.entries.astype("<i8").tobytes()
    return int.from_bytes(hashlib.sha256(text).digest()[:16], "big")


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """What is needed to draw the estimator again under the fitted model; nothing of the rows but the release.

    Parameters
    ----------
    answer : LeastSquares
        The unregularized answer.
    residual_variance : float
        In scaled units, times the number of rows that may share one error.
    event : Event
        The law of the noise.
    layout : Layout
        The public grid of a row.
    corner_is_public : bool
        Whether the first entry of the Gram matrix carries no noise.
    seed : int
        Public; see :func:`public_seed`.
    """

    answer: LeastSquares
    residual_variance: float
    event: GramEvent
    layout: Layout
    corner_is_public: bool
    seed: int

    def parameters(self) -> np.ndarray:
        """Return the parameters of every draw, float64 of shape (N_DRAWS, k), in the user's units.

        Notes
        -----
        `w* = (M + F E* F')**-1 (M w + Z* + F E* t)` with fresh noise `E*` of the same law and
        `Z* ~ N(0, s2 M)`: the hybrid bootstrap, which needs no second look at the rows.
        Proof: docs/proofs/intervals.md.

        Source
        ------
        Ferrando, Wang and Sheldon, *Parametric bootstrap for differentially private confidence intervals*, 2022.
        """
        problem = self.answer.problem
        quadratic, center = problem.quadratic, problem.quadratic @ self.answer.repair.solution
        values, vectors = np.linalg.eigh(quadratic)
        root = vectors * np.sqrt(self.residual_variance * np.maximum(values, 0.0))
        rng = np.random.default_rng(self.seed)
        batches = []
        for noise in self._noise(rng):
            half = problem.features @ noise
            score = rng.standard_normal((len(noise), root.shape[1])) @ root.T
            linear = center + score + half @ problem.target
            solutions = np.linalg.solve(quadratic + half @ problem.features.T, linear[:, :, None])[:, :, 0]
            batches.append((solutions - self.answer.repair.solution) @ problem.to_user.T)
        return np.asarray(np.concatenate(batches) + self._estimate())

    def intervals(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and upper ends of the reflected intervals, each of shape (k,).

        The draws deviate from the estimate as the estimate deviates from the truth, so an interval is the estimate
        less the quantiles of the deviations.
        """
        estimate = self._estimate()
        tails = [(1.0 + level) / 2.0, (1.0 - level) / 2.0]
        lower, upper = 2.0 * estimate - np.quantile(self.parameters(), tails, axis=0)
        return lower, upper

    def _estimate(self) -> np.ndarray:
        head = [self.answer.intercept] if self.answer.problem.intercept else []
        return np.concatenate([head, self.answer.coef])

    def _noise(self, rng: np.random.Generator) -> Iterator[np.ndarray]:
        width = self.answer.problem.gram.shape[0]
        batch = max(1, min(N_DRAWS, _BATCH_ENTRIES // width**2))
        for start in range(0, N_DRAWS, batch):
            noise = noise_draws(self.event, self.layout, rng, min(batch, N_DRAWS - start)) / 4.0**self.layout.bits
            if self.corner_is_public:
                noise[:, 0, 0] = 0.0
            yield noise
