"""Which scores to try on given outputs: learned on runs that judge nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.scores import (
    Bins,
    CellRatio,
    Coder,
    Coordinate,
    Fineness,
    Kinds,
    Learned,
    Plain,
    Residues,
    Rows,
    Score,
    Values,
    View,
    shapes,
    standardized,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Outputs = NDArray[Any]

# Runs of each data set that a classifier learns from; more take long and add little.
_MOST_LEARNED = 20_000
# Intervals of a histogram: so few that each has a hundred runs or more.
_MOST_BINS = 256
_MOST_VALUES = 4096
_MODULUS = 256
# A value that was seen so often has a cell of its own.
_OFTEN = 20
_MOST_SQUARED = 64
# Single columns that are tried beside the classifier.
_BEST_COLUMNS = 2


def candidate_scores(first: Outputs, second: Outputs) -> list[Score]:
    """Return scores that tell outputs of the second data set from outputs of the first.

    Parameters
    ----------
    first, second : ndarray of float64 or int64, shape (n_runs, k)
        Outputs to learn from.
    """
    width = first.shape[1]
    scores: list[Score] = []
    for index in _best_columns(first, second):
        view = Coordinate(index, alone=width == 1)
        scores += _scalar_scores(view, view(first), view(second), exact=True)
    if width > 1:
        for learned in _classifiers(first, second):
            scores += _scalar_scores(learned, learned(first), learned(second), exact=False)
        scores += _whole_outputs(first, second)
    return scores


def _scalar_scores(view: View, first: Outputs, second: Outputs, *, exact: bool) -> Iterator[Score]:
    """Yield the scores of one number: itself, its histogram, and, for outputs themselves, their exact digits."""
    yield Plain(view, _direction(first, second))
    both = np.concatenate([first, second])
    finite = both[np.isfinite(both)] if both.dtype.kind == "f" else both
    n_bins = min(_MOST_BINS, max(2, both.size // 200))
    places = np.unique(np.quantile(finite, np.arange(1, n_bins) / n_bins)) if finite.size else np.zeros(1)
    coders: list[Coder] = [Bins(places.astype(np.float64))]
    if exact:
        coders += _exact_coders(both)
    for coder in coders:
        yield CellRatio(view, coder, log_ratios(coder(first), coder(second)))


def _exact_coders(numbers: Outputs) -> Iterator[Coder]:
    """Yield the cells of values that occur often, and of the last digits where most values do not."""
    if not np.isfinite(numbers).all():
        yield Kinds()
    values, counts = np.unique(numbers, return_counts=True)
    often = (counts >= _OFTEN) & np.isfinite(values)
    if 0 < np.count_nonzero(often) <= _MOST_VALUES:
        yield Values(values[often])
    if counts[often].sum() < numbers.size / 2:
        yield Residues(_MODULUS) if numbers.dtype.kind == "i" else Fineness()


def log_ratios(first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
    """Return the log-ratio of the share of runs in every cell; a last one, of no information, for unseen cells."""
    n_cells = int(max(first.max(initial=0), second.max(initial=0))) + 2
    one, other = np.bincount(first, minlength=n_cells), np.bincount(second, minlength=n_cells)
    ratios: Floats = np.log((other + 0.5) / (second.size + 1)) - np.log((one + 0.5) / (first.size + 1))
    # A cell that was hardly seen says hardly anything, but one seen by one data set alone does.
    return np.where(one + other > 0, ratios, 0.0)


def _direction(first: Outputs, second: Outputs) -> int:
    """Return 1 where outputs of the second data set tend to be larger, else -1."""
    below, above = _excess(first, second)
    return 1 if above >= below else -1


def _excess(first: Outputs, second: Outputs) -> tuple[float, float]:
    """Return how far the distribution function of the second rises above that of the first, and the other way round."""
    one, other = np.sort(first), np.sort(second)
    places = np.concatenate([one, other])
    gap = np.searchsorted(other, places, "right") / other.size - np.searchsorted(one, places, "right") / one.size
    return float(gap.max(initial=0.0)), float(-gap.min(initial=0.0))


def _best_columns(first: Outputs, second: Outputs) -> list[int]:
    """Return the columns that differ most, by the largest gap of their distribution functions or of their values."""
    if first.shape[1] == 1:
        return [0]
    sample = slice(0, _MOST_LEARNED // 4)
    gaps = [max(_excess(one, other)) for one, other in zip(first[sample].T, second[sample].T, strict=True)]
    best = np.argsort(-np.array(gaps), kind="stable")[:_BEST_COLUMNS]
    return [int(index) for index in best]


def _classifiers(first: Outputs, second: Outputs) -> list[View]:
    """Return logistic classifiers of standardized outputs, and of their `shapes` where there are not too many."""
    from sklearn.linear_model import LogisticRegression

    one, other = first[:_MOST_LEARNED].astype(np.float64), second[:_MOST_LEARNED].astype(np.float64)
    both = np.concatenate([one, other])
    usable = np.where(np.isfinite(both), both, 0.0)
    center = np.median(usable, axis=0)
    spread = np.quantile(np.abs(usable - center), 0.75, axis=0)
    deviation = usable.std(axis=0)
    # Columns that hardly vary keep what variation they have; constant ones say nothing.
    spread = np.where(spread > 0, spread, np.where(deviation > 0, deviation, 1.0))
    labels = np.repeat([0, 1], [one.shape[0], other.shape[0]])
    scaled = standardized(both, center, spread)
    tables = [scaled] if scaled.shape[1] > _MOST_SQUARED else [scaled, np.hstack([scaled, *shapes(scaled)])]
    # A little shrinkage: columns that vary with the data set alone would otherwise have no finite weight.
    strength = labels.size / (100.0 * scaled.shape[1])
    views: list[View] = []
    for table in tables:
        # Where it stops after too few steps it is a worse score, and still a sound one.
        model = LogisticRegression(C=max(strength, 1e-3), max_iter=200, tol=1e-3)
        views.append(Learned(center, spread, _fitted(model, table, labels)))
    return views


def _fitted(model: object, table: Floats, labels: NDArray[np.int64]) -> Floats:
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weights: Floats = model.fit(table, labels).coef_[0]  # type: ignore[attr-defined]
    return weights


def _whole_outputs(first: Outputs, second: Outputs) -> list[Score]:
    """Return the score of whole outputs, where there are so few different ones that each was seen often."""
    seen: dict[bytes, list[int]] = {}
    for label, outputs in enumerate((first, second)):
        for row in np.ascontiguousarray(outputs[:_MOST_LEARNED]):
            seen.setdefault(row.tobytes(), [0, 0])[label] += 1
            if len(seen) > _MOST_VALUES:
                return []
    n_runs = min(first.shape[0], _MOST_LEARNED)
    if len(seen) > n_runs // 20:
        return []
    return [Rows({row: float(np.log((b + 0.5) / (a + 0.5))) for row, (a, b) in seen.items()})]
