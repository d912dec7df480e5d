"""Does the count of operations tell anything? Exact where a law is claimed, and jointly with the output.

A sampler whose *count* of steps has the right law may still leak through output and count together, so the two are
tested against each other, too. Every test here has a p-value; the lower limits of epsilon that convict a mechanism
come from `audit`, to which a pair (output, count) is an output like any other.

Proof: docs/proofs/audit.md
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet import _checks
from discreet.audit.bounds import DEFAULT_CONFIDENCE, error_of
from discreet.audit.names import check_name, in_a_file, on_a_line
from discreet.audit.runs import FEWEST_RUNS
from discreet.errors import InvalidArgument
from discreet.privacy.coins import Coins

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from discreet.audit.runs import Mechanism

    CountedMechanism = Callable[[Any, Coins, int], tuple[Any, Any]]
    Law = Callable[[int], float]

# Cells of a test have at least so many expected runs; others are joined with their neighbours.
_LEAST_EXPECTED = 20.0
# Quantile bins of each column of the output.
_OUTPUT_BINS = 8
_COUNT_CELLS = 16


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one test found.

    Parameters
    ----------
    name : str
        What was asked.
    statistic : float
        Its size.
    p_value : float
        How often it would be so large where nothing is wrong; asymptotic, but for "equal counts", which is exact.
    """

    name: str
    statistic: float
    p_value: float

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON; infinity is null."""
        size = self.statistic if np.isfinite(self.statistic) else None
        return {"name": self.name, "statistic": size, "p_value": self.p_value}


@dataclass(frozen=True, kw_only=True)
class CountVerdict:
    """What an audit of counts found.

    Parameters
    ----------
    name : str
        Of the mechanism.
    findings : tuple of Finding
        One a test.
    n_runs : int
        Of each data set.
    error : float
        The smallest p-value a test may have before its hypothesis is dropped; Bonferroni's share of what is allowed.
    """

    name: str
    findings: tuple[Finding, ...]
    n_runs: int
    error: float

    @property
    def violated(self) -> bool:
        """Whether any hypothesis is dropped."""
        return any(finding.p_value < self.error for finding in self.findings)

    def __str__(self) -> str:
        worst = min(self.findings, key=lambda finding: finding.p_value)
        answer = "violated" if self.violated else "consistent"
        return f"{on_a_line(self.name)}: {answer}; {self.n_runs} runs; {worst.name}: p = {worst.p_value:.2g}"

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as plain JSON."""
        return {
            "name": in_a_file(self.name),
            "answer": "violated" if self.violated else "consistent",
            "n_runs": self.n_runs,
            "error": self.error,
            "findings": [finding.to_json() for finding in self.findings],
        }


class CountedCoins(Coins):
    """Coins that count the words they hand out: the count of operations of a sampler that is nothing but arithmetic.

    Made by `CountedCoins.from_system` or `CountedCoins.from_seed`.

    Attributes
    ----------
    n_words : int
        Words so far.

    Examples
    --------
    >>> coins = CountedCoins.from_seed(0)
    >>> _ = coins.words(3), coins.words(4)
    >>> coins.n_words
    7
    """

    __slots__ = ("n_words",)

    def __init__(self, key: bytes, *, seeded: bool, word_bits: int) -> None:
        super().__init__(key, seeded=seeded, word_bits=word_bits)
        self.n_words = 0

    def fill(self, out: NDArray[np.uint64]) -> None:
        """Overwrite `out` with fresh words, and count them."""
        super().fill(out)
        self.n_words += out.size


def words_of(mechanism: Mechanism) -> CountedMechanism:
    """Return a mechanism that tells, beside each output, how many words its run took; for `audit_counts`.

    Parameters
    ----------
    mechanism : callable
        As `audit` takes it. It is run once a time, with coins of the system or of a seed of its own.

    Notes
    -----
    Exact noise refines the draws that doubles leave undecided, with further words: a chance that is public, tiny and
    the same for all data, and the only way in which the count of our laws varies.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.lattice.noise.laplace import rounded_laplace
    >>> def mechanism(data, coins, n_runs):
    ...     return rounded_laplace(np.full(n_runs, data), scale=Fraction(100), coins=coins)
    >>> audit_counts(words_of(mechanism), 0, 100, fixed=True, n_runs=200, coins=Coins.from_seed(0)).violated
    False
    """

    def counted(data: Any, coins: Coins, n_runs: int) -> tuple[Any, Any]:
        outputs, counts = [], np.empty(n_runs, np.int64)
        # One object for all runs: a seed's words are then never used twice.
        seed = int(coins.words(1)[0])
        source = cast("CountedCoins", CountedCoins.from_seed(seed) if coins.seeded else CountedCoins.from_system())
        for run in range(n_runs):
            before = source.n_words
            outputs.append(np.asarray(mechanism(data, source, 1))[0])
            counts[run] = source.n_words - before
        return np.array(outputs), counts

    return counted


def audit_counts(
    mechanism: CountedMechanism,
    first: Any,
    second: Any,
    *,
    law: Law | None = None,
    fixed: bool = False,
    n_runs: int = 20_000,
    coins: Coins | None = None,
    confidence: Any = DEFAULT_CONFIDENCE,
    name: str = "mechanism",
) -> CountVerdict:
    """Test what the counts of a mechanism's operations may tell of its data.

    Parameters
    ----------
    mechanism : callable
        `mechanism(data, coins, n_runs)` returns outputs, of shape (n_runs,) or (n_runs, k), and counts, whole numbers
        of shape (n_runs,).
    first, second : object
        Two neighbouring data sets.
    law : callable or None
        `law(count)` is the claimed probability of a count, the same for both data sets.
    fixed : bool
        Whether the count is claimed to be one public number: then a single other one is a violation.
    n_runs : int
        Runs of each data set, at least 64.
    coins, confidence, name
        As in `discreet.audit.distinguish.audit`.

    Raises
    ------
    InvalidArgument
        If an argument is out of its range, or the mechanism returns something else.

    Notes
    -----
    Tested are: that counts are equal (where `fixed`), that they have the claimed law (G-test, each data set), that
    both data sets have one law of counts (G-test of homogeneity), and that the count is independent of the output
    within each data set (chi-square). Not independent does not mean not private, if the joint law is claimed to be
    private as it is; then audit the pairs instead.

    Examples
    --------
    >>> def eager(data, coins, n_runs):
    ...     rng = np.random.default_rng(data)
    ...     return rng.normal(size=n_runs), rng.geometric(0.5 - 0.1 * data, size=n_runs)
    >>> audit_counts(eager, 0, 1, n_runs=4000).violated
    True
    """
    size = _checks.integer(n_runs, "n_runs", low=FEWEST_RUNS)
    source = Coins.from_system() if coins is None else coins
    runs = [_counted(mechanism(data, source, size), size) for data in (first, second)]
    findings: list[Finding] = []
    if fixed:
        findings.append(equal_counts(runs[0][1], runs[1][1]))
    else:
        findings.append(same_law(runs[0][1], runs[1][1]))
    for label, (outputs, counts) in zip(("first", "second"), runs, strict=True):
        if law is not None:
            findings.append(fits_law(counts, law, name=f"law of counts, {label} data set"))
        findings.append(independence(outputs, counts, name=f"count against output, {label} data set"))
    return CountVerdict(
        name=check_name(name),
        findings=tuple(findings),
        n_runs=size,
        error=float(error_of(confidence)) / len(findings),
    )


def _counted(found: Any, n_runs: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    outputs, counts = (np.asarray(part) for part in found)
    if counts.shape != (n_runs,) or counts.dtype.kind not in "iu" or outputs.shape[:1] != (n_runs,):
        raise InvalidArgument(
            f"`mechanism` must return outputs and whole counts of {n_runs} runs; found outputs of shape "
            f"{outputs.shape} and counts of {counts.dtype}, shape {counts.shape}."
        )
    return outputs.astype(np.float64).reshape(n_runs, -1), counts.astype(np.int64)


def equal_counts(first: NDArray[np.int64], second: NDArray[np.int64]) -> Finding:
    """Return whether all counts are one number; exact: a single other one is impossible where they are fixed.

    Examples
    --------
    >>> equal_counts(np.array([7, 7]), np.array([7, 8])).p_value
    0.0
    """
    n_other = int(np.count_nonzero(np.concatenate([first, second]) != first[0]))
    return Finding(name="equal counts", statistic=float(n_other), p_value=1.0 if n_other == 0 else 0.0)


def fits_law(counts: ArrayLike, law: Law, *, name: str = "law of counts") -> Finding:
    """Return the G-test of counts against their claimed law; a count of probability 0 refutes it at once.

    Parameters
    ----------
    counts : array of whole numbers, shape (n_runs,)
        What was counted.
    law : callable
        The probability of a count.
    name : str
        Of the finding.

    Examples
    --------
    >>> counts = np.random.default_rng(0).geometric(0.3, size=5000)
    >>> fits_law(counts, lambda count: 0.3 * 0.7 ** (count - 1)).p_value > 0.001
    True
    >>> fits_law(counts, lambda count: 0.33 * 0.67 ** (count - 1)).p_value < 0.001
    True
    """
    numbers = np.asarray(counts, dtype=np.int64)
    values = np.arange(int(numbers.min()), int(numbers.max()) + 1)
    expected = np.array([law(int(value)) for value in values]) * numbers.size
    observed = np.bincount(numbers - values[0], minlength=values.size).astype(np.float64)
    if np.any((expected <= 0) & (observed > 0)):
        return Finding(name=name, statistic=np.inf, p_value=0.0)
    # What the law gives to counts that were never seen is a cell of its own.
    expected = np.append(expected, max(numbers.size - float(expected.sum()), 0.0))
    cells = _joined(np.append(observed, 0.0), expected)
    return _g_test(*cells, dimensions=cells[0].size - 1, name=name)


def same_law(first: NDArray[np.int64], second: NDArray[np.int64]) -> Finding:
    """Return the G-test of whether two samples of counts have one law."""
    table = _table(np.repeat([0, 1], [first.size, second.size]), _cells_of_counts(np.concatenate([first, second])))
    return _homogeneity(table, "one law of counts")


def independence(
    outputs: NDArray[np.float64], counts: NDArray[np.int64], *, name: str = "count against output"
) -> Finding:
    """Return the test of whether counts are independent of outputs, the most telling column of these.

    Parameters
    ----------
    outputs : ndarray of float64, shape (n_runs, k)
        Cut into bins of equal shares, column by column; the p-value is Bonferroni's over columns.
    counts : ndarray of int64, shape (n_runs,)
        Rare ones are joined.
    name : str
        Of the finding.
    """
    count_cells = _cells_of_counts(counts)
    best = Finding(name=name, statistic=0.0, p_value=1.0)
    for column in np.nan_to_num(outputs).T:
        edges = np.unique(np.quantile(column, np.arange(1, _OUTPUT_BINS) / _OUTPUT_BINS))
        table = _table(np.searchsorted(edges, column, side="left"), count_cells)
        found = _homogeneity(table, name)
        if found.p_value < best.p_value:
            best = found
    share = min(1.0, best.p_value * max(outputs.shape[1], 1))
    return Finding(name=name, statistic=best.statistic, p_value=share)


def _cells_of_counts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    edges = np.unique(np.quantile(counts, np.arange(1, _COUNT_CELLS) / _COUNT_CELLS, method="inverted_cdf"))
    return np.searchsorted(edges, counts, side="left").astype(np.int64)


def _table(rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float64]:
    table = np.zeros((int(rows.max()) + 1, int(columns.max()) + 1))
    np.add.at(table, (rows, columns), 1.0)
    seen: NDArray[np.float64] = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return seen


def _homogeneity(table: NDArray[np.float64], name: str) -> Finding:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    dimensions = (table.shape[0] - 1) * (table.shape[1] - 1)
    return _g_test(table.ravel(), expected.ravel(), dimensions=dimensions, name=name)


def _joined(
    observed: NDArray[np.float64], expected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Join neighbouring cells until each expects enough runs."""
    seen, wanted = [0.0], [0.0]
    for one, other in zip(observed.tolist(), expected.tolist(), strict=True):
        if wanted[-1] >= _LEAST_EXPECTED:
            seen.append(0.0)
            wanted.append(0.0)
        seen[-1] += one
        wanted[-1] += other
    if len(wanted) > 1 and wanted[-1] < _LEAST_EXPECTED:
        seen[-2:], wanted[-2:] = [sum(seen[-2:])], [sum(wanted[-2:])]
    return np.array(seen), np.array(wanted)


def _g_test(observed: NDArray[np.float64], expected: NDArray[np.float64], *, dimensions: int, name: str) -> Finding:
    from scipy import special, stats

    statistic = 2 * float(special.rel_entr(observed, expected).sum() + expected.sum() - observed.sum())
    if dimensions < 1:
        return Finding(name=name, statistic=0.0, p_value=1.0)
    return Finding(name=name, statistic=max(statistic, 0.0), p_value=float(stats.chi2.sf(statistic, dimensions)))
