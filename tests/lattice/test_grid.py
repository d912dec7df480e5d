"""One cell becomes one integer, the same on every road; layouts state exactly what a row can be."""

import json
import math
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, InvalidType
from discreet.lattice.grid import LARGEST_BITS, PIECE, Coding, Layout, all_finite, quantize

limits = st.floats(min_value=-1e150, max_value=1e150)
cells = st.floats(allow_nan=False, allow_infinity=False)
all_bits = st.integers(min_value=1, max_value=LARGEST_BITS)


@st.composite
def codings(draw):
    """Draw a coding of any kind that its constructor accepts."""
    kind = draw(st.sampled_from(["centered", "uncentered", "flag", "dummy", "indicator"]))
    bits = draw(all_bits)
    if kind in {"flag", "indicator"}:
        return getattr(Coding, kind)(bits)
    if kind == "dummy":
        return Coding.dummy(draw(st.integers(1, 50)), bits)
    lower, upper = sorted((draw(limits), draw(limits)))
    try:
        return getattr(Coding, kind)(lower, upper, bits)
    except InvalidArgument:
        assume(False)


def by_hand(coding, x):
    """Code one cell in Python's own doubles, clipping first: the definition, letter by letter."""
    return math.floor((min(max(x, coding.lower), coding.upper) - coding.center) * coding.scale + 0.5)


# --- Coding


@given(codings(), st.lists(cells, min_size=1, max_size=20))
def test_arrays_and_scalars_code_by_the_written_formula(coding, values):
    """The fast path, which clips last, equals floor((clip(x) - center) * scale + 0.5) bit for bit."""
    expected = [by_hand(coding, x) for x in values]
    assert coding.encode(values).tolist() == expected
    assert [float(coding.encode(x)) for x in values] == expected
    assert coding.encode(np.array(values)[:, None]).ravel().tolist() == expected


@given(codings(), st.floats(0, 1))
def test_cells_near_and_between_the_limits_code_by_the_formula(coding, share):
    """Inside the bounds, at them and one double beside them nothing differs from the formula."""
    inside = min(max(coding.lower + share * (coding.upper - coding.lower), coding.lower), coding.upper)
    values = [inside, coding.lower, coding.upper, coding.center]
    values += [math.nextafter(x, way) for x in values for way in (-math.inf, math.inf)]
    assert coding.encode(values).tolist() == [by_hand(coding, x) for x in values]


@given(codings(), st.data())
def test_halfway_cells_round_up(coding, data):
    """A cell halfway between two grid points goes to the upper one, never to the even one."""
    assume(coding.lowest < coding.highest)
    q = data.draw(st.integers(coding.lowest, coding.highest - 1))
    value = coding.center + (q + 0.5) / coding.scale
    assert float(coding.encode(value)) == by_hand(coding, value)
    if coding.center == 0.0 and math.frexp(coding.scale)[0] == 0.5:  # exact arithmetic
        assert by_hand(coding, value) == q + 1


@given(codings(), cells, cells)
def test_coding_is_monotone(coding, x, z):
    """A larger cell never has a smaller code."""
    low, high = coding.encode(sorted((x, z)))
    assert low <= high


@given(codings(), cells)
def test_codes_are_whole_and_within_largest(coding, x):
    """Every finite cell becomes a whole number of at most `largest` in size, and the limits attain it."""
    q = float(coding.encode(x))
    assert q.is_integer()
    assert coding.lowest <= q <= coding.highest
    assert abs(q) <= coding.largest
    assert coding.largest == np.abs(coding.encode([coding.lower, coding.upper])).max()
    assert coding.largest <= 2**LARGEST_BITS + 1


@given(codings(), st.data())
def test_decoded_grid_points_code_to_themselves(coding, data):
    """encode(decode(q)) is q for every q the coding can give."""
    q = data.draw(st.integers(coding.lowest, coding.highest))
    assert float(coding.encode(coding.decode(q))) == q
    assert coding.encode(coding.decode([coding.lowest, coding.highest])).tolist() == [coding.lowest, coding.highest]


@given(codings())
def test_no_code_is_negative_zero(coding):
    """Zero has one bit pattern, so that equal codes are equal bytes."""
    codes = coding.encode([coding.center, -0.0, 0.0, math.nextafter(coding.center, -math.inf)])
    assert not np.signbit(codes[codes == 0]).any()


def test_huge_cells_are_clipped_without_a_warning():
    """Cells whose distance or product leaves the doubles count as the nearer limit, silently."""
    coding = Coding.centered(-1e-290, 1e-290)
    assert coding.encode([1.7e308, -1.7e308, 1e200]).tolist() == [65536, -65536, 65536]
    assert Coding.centered(0, 10).encode([1.46e258, 10.0]).tolist() == [65536, 65536]
    assert Coding.centered(0, 1).encode(1e9) == Coding.centered(0, 1).encode(1.0)


def test_missing_cells_stay_missing_or_clip():
    """NaN stays NaN and an infinity goes to its limit, without a warning; `all_finite` sees both."""
    codes = Coding.centered(0, 1).encode([np.nan, np.inf, -np.inf])
    assert np.isnan(codes[0])
    assert codes[1:].tolist() == [65536, -65536]


def test_encode_writes_where_it_is_told():
    """`out` receives the codes and may be the cells themselves; long arrays are coded piece by piece."""
    coding = Coding.centered(-3, 2)
    values = np.random.default_rng(0).normal(size=2 * PIECE + 5)
    expected = coding.encode(values.reshape(1, -1)).ravel()
    kept, out = values.copy(), np.empty_like(values)
    assert coding.encode(values, out=out) is out
    assert np.array_equal(out, expected)
    assert np.array_equal(values, kept)
    assert coding.encode(values, out=values) is values
    assert np.array_equal(values, expected)
    assert np.array_equal(coding.encode(kept[::-3]), expected[::-3])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint64, np.float16, np.float32, np.longdouble, bool])
def test_every_real_dtype_codes_as_its_float64_copy(dtype):
    """No width of integer or float wraps or loses anything on the way."""
    values = np.array([0, 1, 0, 200, 255]).astype(dtype)
    coding = Coding.centered(0, 250)
    assert np.array_equal(coding.encode(values), coding.encode(values.astype(np.float64)))


def test_named_codings_put_their_values_where_they_should():
    """Numbers span [-K, K]; flags, dummies and indicators have the codes of the design."""
    steps = 2**16
    assert Coding.centered(10, 30).encode([10, 20, 30]).tolist() == [-steps, 0, steps]
    assert Coding.uncentered(-1, 4).encode([-1, 0, 4]).tolist() == [-steps // 4, 0, steps]
    assert Coding.uncentered(-8, -4).encode([-8, -4]).tolist() == [-steps, -steps // 2]
    assert Coding.flag().encode([0, 1]).tolist() == [-steps // 2, steps // 2]
    assert Coding.indicator().encode([0, 1]).tolist() == [0, steps]
    assert Coding.dummy(3).encode([0, 1]).tolist() == [-21845, 43691]
    assert Coding.dummy(1).largest == steps
    assert Coding.dummy(2, bits=1).encode([0, 1]).tolist() == [-1, 1]


@given(st.integers(1, 300), st.integers(1, LARGEST_BITS))
def test_dummies_subtract_the_rounded_share(n_dummies, bits):
    """A dummy's codes are -round(K/k) and K - round(K/k), in integers."""
    steps = 2**bits
    share = (2 * steps + n_dummies) // (2 * n_dummies)
    assert Coding.dummy(n_dummies, bits).encode([0, 1]).tolist() == [-share, steps - share]


@pytest.mark.parametrize(("lower", "upper"), [(0, 100), (-100, 0), (0, 2**47), (-1e-3, 1e-3), (0, 50), (-5, 5)])
def test_every_number_reaches_the_same_largest_code(lower, upper):
    """The square of every bounded number has sensitivity K**2 in grid units, whatever its bounds and sign."""
    assert Coding.centered(lower, upper).largest == 2**16
    assert Coding.uncentered(lower, upper).largest == 2**16


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(1, 0), (1, 1), (0, math.inf), (-math.inf, math.inf), (math.nan, 1), (0, math.nan), (-1e200, 1e200)],
)
def test_unusable_bounds_are_refused(lower, upper):
    """Bounds that are infinite, NaN, reversed or whose square is not representable are refused before any cell."""
    for make in (Coding.centered, Coding.uncentered):
        with pytest.raises(InvalidArgument, match=r"[Bb]ound"):
            make(lower, upper)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(0.0, 5e-324), (0.0, 1e-305), (1.0, 1.0 + 2**-40), (1e15, 1e15 + 10), (2.0**60, 2.0**60 + 4096)],
)
def test_bounds_closer_than_the_grid_are_refused(lower, upper):
    """Where doubles cannot tell grid points apart the coding says so instead of coding arbitrarily."""
    with pytest.raises(InvalidArgument, match="close"):
        Coding.centered(lower, upper)


@pytest.mark.parametrize("bits", [0, -1, 21, 64])
def test_bits_outside_the_range_are_refused(bits):
    """Fineness is between 1 and 20 bits."""
    for make in (Coding.flag, Coding.indicator, lambda b: Coding.dummy(3, b), lambda b: Coding.centered(0, 1, b)):
        with pytest.raises(InvalidArgument, match="bits"):
            make(bits)


@pytest.mark.parametrize("wrong", [True, 1.5, "16", None, math.nan])
def test_bits_of_another_type_are_refused(wrong):
    """Fineness is a whole number."""
    with pytest.raises(InvalidType, match="bits"):
        Coding.centered(0, 1, wrong)


def test_free_codings_are_checked():
    """A coding by hand needs a positive finite scale that stays within the bits."""
    assert Coding(-256.0, 256.0, 0.0, 1.0).largest == 256
    for scale in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(InvalidArgument, match="scale"):
            Coding(0.0, 1.0, 0.0, scale)
    with pytest.raises(InvalidArgument, match="within 20 bits"):
        Coding(0.0, 1.0, 0.0, 2.0**21)
    with pytest.raises(InvalidArgument, match="center"):
        Coding(0.0, 1.0, math.nan, 1.0)
    with pytest.raises(InvalidArgument, match="n_dummies"):
        Coding.dummy(0)


@given(codings())
def test_codings_survive_json(coding):
    """Through JSON text and back nothing changes, to the last bit."""
    back = Coding.from_json(json.loads(json.dumps(coding.to_json(), allow_nan=False)))
    assert back == coding
    assert back.largest == coding.largest


def test_codings_in_json_are_checked():
    """An unknown or absent field is refused."""
    good = Coding.flag().to_json()
    for bad in ({**good, "largest": 3}, {"lower": 0.0}, [], None):
        with pytest.raises(InvalidArgument, match="coding in JSON"):
            Coding.from_json(bad)
    with pytest.raises(InvalidArgument, match="center"):
        Coding.from_json({**good, "center": "0.5"})


def test_codings_are_frozen():
    """A declaration does not change after it was made."""
    with pytest.raises(FrozenInstanceError):
        Coding.flag().lower = 3.0


# --- all_finite


@pytest.mark.parametrize("size", [1, 7, PIECE, 2 * PIECE + 3])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_cell_that_is_not_finite_is_seen_anywhere(size, bad):
    """First, last or in between, one NaN or infinity among huge, tiny and negative cells is seen, silently."""
    values = np.resize([1.7e308, -1.7e308, 5e-324, -0.0, 1.0], size)
    assert all_finite(values)
    for at in {0, size // 2, size - 1}:
        spoiled = values.copy()
        spoiled[at] = bad
        assert not all_finite(spoiled)
        assert not all_finite(np.repeat(spoiled, 2)[::2])


def test_nothing_at_all_is_finite():
    """An empty column has no cell that is missing."""
    assert all_finite(np.empty(0))


@given(st.lists(st.floats(), max_size=50))
def test_all_finite_agrees_with_isfinite(values):
    """The inner product with zeros sees what a pass of isfinite sees."""
    assert all_finite(np.array(values, dtype=np.float64)) == bool(np.isfinite(values).all())


@given(st.lists(codings(), min_size=1, max_size=4), st.data())
def test_arrays_of_constants_code_as_single_constants(several, data):
    """Quantising a block with tiled constants equals quantising column after column."""
    block = np.array(data.draw(st.lists(st.lists(cells, min_size=len(several), max_size=len(several)), min_size=1)))
    fields = [np.array([getattr(c, f) for c in several], dtype=float) for f in ("center", "scale", "lowest", "highest")]
    with np.errstate(all="ignore"):
        codes = quantize(block, *fields, out=np.empty_like(block))
    for j, coding in enumerate(several):
        assert np.array_equal(codes[:, j], coding.encode(block[:, j]))


# --- Layout


def layout_of(*several, intercept=True, **more):
    return Layout([f"x{j}" for j in range(len(several))], several, intercept=intercept, **more)


def test_layouts_know_their_width_and_bounds():
    """Width, entry bounds, row norm and l1 bound are exact integers; the constant counts."""
    layout = layout_of(Coding.centered(0, 9, bits=4), Coding.flag(bits=4), bits=4)
    assert layout.width == 3
    assert layout.entry_bounds == (16, 16, 8)
    assert layout.row_norm_squared == 16**2 + 16**2 + 8**2
    assert layout.l1_bound == (40**2 + 16**2 + 16**2 + 8**2) // 2
    bare = layout_of(Coding.uncentered(0, 9, bits=4), intercept=False, bits=4)
    assert (bare.width, bare.entry_bounds, bare.row_norm_squared, bare.l1_bound) == (1, (16,), 256, 256)


def test_user_coding_gives_the_columns_in_their_own_units():
    """A @ (v / K) is (1, z) where z are the cells as the grid holds them."""
    several = [Coding.centered(17, 90), Coding.flag(), Coding.dummy(3), Coding.centered(-1e6, 3e6)]
    row = [40.0, 1.0, 0.0, 2e6]
    layout = layout_of(*several)
    v = np.array([2.0**16] + [float(c.encode(x)) for c, x in zip(several, row, strict=True)])
    z = layout.user_coding() @ (v / 2**16)
    assert z == pytest.approx([1.0] + [float(c.decode(q)) for c, q in zip(several, v[1:], strict=True)], rel=1e-15)
    assert z == pytest.approx([1.0, *row], rel=1e-4)
    bare = layout_of(Coding.uncentered(-2, 8), Coding.indicator(), intercept=False)
    assert np.array_equal(bare.user_coding(), np.diag([8.0, 1.0]))


@pytest.mark.parametrize("squared", [0, 16**2 - 1, 2 * 16**2 + 1])
def test_impossible_row_norms_are_refused(squared):
    """A row norm below the constant's own square or above the box is no bound that a maker can have meant."""
    with pytest.raises(InvalidArgument, match="row_norm_squared"):
        layout_of(Coding.centered(0, 1, bits=4), bits=4, row_norm_squared=squared)


def test_layouts_refuse_what_does_not_fit_together():
    """Names, codings, intercept and bits are checked, each by name."""
    number = Coding.centered(0, 1)
    with pytest.raises(InvalidArgument, match="codings"):
        Layout(["a", "b"], [number], intercept=True)
    with pytest.raises(InvalidArgument, match="distinct"):
        Layout(["a", "a"], [number, number], intercept=True)
    with pytest.raises(InvalidArgument, match="at least one column"):
        Layout([], [], intercept=True)
    with pytest.raises(InvalidArgument, match="b is coded around"):
        Layout(["a", "b"], [Coding.indicator(), Coding.flag()], intercept=False)
    with pytest.raises(InvalidType, match="names"):
        Layout("a", [number], intercept=True)
    for wrong in ([1], None, 3):
        with pytest.raises(InvalidType, match="names"):
            Layout(wrong, [number], intercept=True)
    for wrong in ([(0, 1)], None, number):
        with pytest.raises(InvalidType, match="codings"):
            Layout(["a"], wrong, intercept=True)
    with pytest.raises(InvalidType, match="intercept"):
        Layout(["a"], [number], intercept="yes")
    with pytest.raises(InvalidType, match="row_norm_squared"):
        Layout(["a"], [number], intercept=True, row_norm_squared=2.0**33)


@pytest.mark.parametrize("bits", [4, 20])
def test_layouts_survive_json(bits):
    """Through JSON text and back nothing changes; integers that a double cannot hold are written as text."""
    several = [Coding.centered(0, 0.1, bits), Coding.flag(bits)] * 2
    layout = layout_of(*several, bits=bits)
    assert Layout.from_json(json.loads(json.dumps(layout.to_json(), allow_nan=False))) == layout
    wide = layout_of(*[Coding.centered(0, 1, 20)] * 9000, bits=20)
    assert wide.to_json()["row_norm_squared"] == str(9001 * 2**40)
    assert Layout.from_json(wide.to_json()) == wide


def test_layouts_in_json_are_checked():
    """Unknown fields and wrong values are refused."""
    good = layout_of(Coding.flag()).to_json()
    with pytest.raises(InvalidArgument, match="layout in JSON"):
        Layout.from_json({**good, "more": 1})
    for bad in ("many", True, 1.5, None):
        with pytest.raises(InvalidArgument, match="row_norm_squared"):
            Layout.from_json({**good, "row_norm_squared": bad})
    for field in ("names", "codings"):
        with pytest.raises(InvalidArgument, match=field):
            Layout.from_json({**good, field: None})
