"""How coarse a released grid may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet import _checks

if TYPE_CHECKING:
    from fractions import Fraction

# A release is rounded to about this many steps a standard deviation: finer digits are noise and would only make
# files longer and refinement more frequent.
_SPAN_BITS = 20


def step_bits_for(noise_std: Fraction | float) -> int:
    """Return the `step_bits` with which noise of this standard deviation spans about 2**20 steps.

    Parameters
    ----------
    noise_std : Fraction or float
        Standard deviation of the noise, in grid units; public.

    Returns
    -------
    int
        The largest j with `2**(20 + j) <= noise_std`; 0 where the noise is finer than that, at most 62.

    Raises
    ------
    InvalidArgument
        If `noise_std` is not a finite number above 0.

    Examples
    --------
    >>> step_bits_for(2.0**30), step_bits_for(1000)
    (10, 0)
    """
    std = _checks.exact_positive(noise_std, "noise_std")
    whole = std.numerator // std.denominator
    return min(max(0, whole.bit_length() - 1 - _SPAN_BITS), 62)
