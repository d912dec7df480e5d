"""Conversions give the published digits and never understate."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, NoSoundConversion
from discreet.privacy.accounting import (
    bun_steinke_epsilon,
    bun_steinke_rho,
    compose,
    convert,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_log_delta,
    gaussian_mu,
    group,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)
from discreet.privacy.budgets import Approx, Gdp, Pure, Zcdp

# delta, epsilon, mu, rho by Canonne-Kamath-Steinke, rho by Bun-Steinke: printed to five decimals.
VECTORS = [
    ("1e-2", 1, 0.53252, 0.10341, 0.04909),
    ("1e-2", 2, 0.89585, 0.30508, 0.17985),
    ("1e-2", 4, 1.49468, 0.88407, 0.62014),
    ("1e-2", 6, 2.00050, 1.62066, 1.23341),
    ("1e-2", 8, 2.44880, 2.46781, 1.97237),
    ("1e-2", 10, 2.85635, 3.39901, 2.80799),
    ("1e-5", 1, 0.26805, 0.03056, 0.02082),
    ("1e-5", 2, 0.50155, 0.10826, 0.08005),
    ("1e-5", 4, 0.92493, 0.37314, 0.29765),
    ("1e-5", 6, 1.30953, None, None),
    ("1e-5", 8, 1.66603, 1.22971, 1.04914),
    ("1e-5", 10, 2.00045, 1.78270, 1.55036),
]
epsilons = st.builds(lambda k: Fraction(10) ** k, st.fractions(-4, 3, max_denominator=1)) | st.fractions(
    Fraction(1, 1000), 50, max_denominator=1000
)
deltas = st.integers(1, 40).map(lambda k: Fraction(1, 3**k))


def true_delta(epsilon, mu_squared):
    """Return the textbook formula in 120 digits, by mpmath's own erfc: another road to the same number."""
    with mpmath.workdps(120):
        mu = mpmath.sqrt(mpmath.mpf(mu_squared.numerator) / mu_squared.denominator)
        eps = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        upper = mpmath.erfc((eps / mu - mu / 2) / mpmath.sqrt(2)) / 2
        lower = mpmath.erfc((eps / mu + mu / 2) / mpmath.sqrt(2)) / 2
        return upper - mpmath.exp(eps) * lower


def as_mpf(number):
    return mpmath.mpf(number.numerator) / number.denominator


@pytest.mark.parametrize(("delta", "epsilon", "mu", "rho", "rho_lemma"), VECTORS)
def test_printed_vectors(delta, epsilon, mu, rho, rho_lemma):
    """The table of the reference page, to its printed digits, rounded down."""
    assert f"{float(gaussian_mu(epsilon=epsilon, delta=delta)):.5f}" == f"{mu:.5f}"
    if rho is not None:
        assert f"{float(zcdp_rho(epsilon=epsilon, delta=delta)):.5f}" == f"{rho:.5f}"
        assert f"{float(bun_steinke_rho(epsilon=epsilon, delta=delta)):.5f}" == f"{rho_lemma:.5f}"


def test_printed_single_values():
    """delta(1, 1), and mu = 1 at delta = 1e-5 by the exact curve, the tight bound and the lemma."""
    assert f"{float(gaussian_delta(epsilon=1, mu=1)):.6f}" == "0.126937"
    assert f"{float(gaussian_epsilon(delta=1e-5, mu=1)):.4f}" == "4.3772"
    assert f"{float(zcdp_epsilon(delta=1e-5, rho=0.5)):.4f}" == "4.7284"
    assert f"{float(bun_steinke_epsilon(delta=1e-5, rho=0.5)):.4f}" == "5.2985"


def test_epsilon_zero_is_calibrated_at_once():
    """At epsilon = 0 noise exists and is found without an endless search."""
    assert 1 / float(gaussian_mu(epsilon=0, delta="1e-6")) == pytest.approx(398942.2804, rel=1e-6)
    assert float(gaussian_delta(epsilon=0, mu=1)) == pytest.approx(0.3829249225, abs=1e-9)


def test_far_tails_keep_their_digits():
    """Where the difference of two tails would cancel, the answer is right, and never 0 beside a finite epsilon."""
    assert float(gaussian_delta(epsilon=9, mu=1)) == pytest.approx(9.757411787e-19, rel=1e-6)
    assert float(gaussian_delta(epsilon=30, mu=1)) == pytest.approx(4.709326318e-193, rel=1e-6)
    assert float(gaussian_delta(epsilon=40, mu=1)) > 0
    assert float(gaussian_log_delta(epsilon=40, mu=1)) == pytest.approx(math.log(3.909) - 343 * math.log(10), abs=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "sigma"), [("0.1", 36.3046904), (1, 4.22467889), (5, 0.980049), (10, 0.541086832), (50, 0.15659287)]
)
def test_noise_for_large_epsilon(epsilon, sigma):
    """Unlike the textbook formula, calibration holds for every epsilon."""
    assert 1 / float(gaussian_mu(epsilon=epsilon, delta="1e-6")) == pytest.approx(sigma, rel=1e-8)


@pytest.mark.parametrize(
    ("delta", "epsilon"),
    [("1e-6", 4.886554117), ("1e-17", 8.728857982), ("1e-18", 8.997181734), ("1e-300", 37.44884791)],
)
def test_epsilon_at_very_small_delta(delta, epsilon):
    """Smaller deltas cost more epsilon, down to 1e-300."""
    assert float(gaussian_epsilon(delta=delta, mu=1)) == pytest.approx(epsilon, rel=1e-9)


def test_sixty_gaussian_releases_compose():
    """Sixty releases at sigma = 20 are one at mu = sqrt(60)/20."""
    together = compose([Gdp(mu="1/20")] * 60)
    assert float(together.mu) == pytest.approx(0.3872983346, rel=1e-9)
    assert float(convert(together, Approx, delta=0.002).epsilon) == pytest.approx(0.9029396430, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(epsilons, deltas)
def test_gaussian_answers_are_safe_and_tight(epsilon, delta):
    """By another formula in 120 digits: delta of the mu found is at most delta, and within a millionth of it."""
    mu = gaussian_mu(epsilon=epsilon, delta=delta)
    with mpmath.workdps(120):
        assert as_mpf(delta) * (1 - mpmath.mpf("1e-6")) <= true_delta(epsilon, mu**2) <= as_mpf(delta)
        assert true_delta(epsilon, mu**2) <= as_mpf(gaussian_delta(epsilon=epsilon, mu=mu))
    achieved = gaussian_epsilon(delta=delta, mu=mu)
    with mpmath.workdps(120):
        assert true_delta(achieved, mu**2) <= as_mpf(delta)
    assert Fraction(999, 1000) * epsilon <= achieved <= epsilon


@settings(max_examples=30, deadline=None)
@given(epsilons, deltas)
def test_zcdp_answers_are_safe_and_consistent(epsilon, delta):
    """The three forms of one bound agree, each rounded to its safe side, and beat the printed lemma."""
    rho = zcdp_rho(epsilon=epsilon, delta=delta)
    assert bun_steinke_rho(epsilon=epsilon, delta=delta) <= rho
    assert 2 * rho <= gaussian_mu(epsilon=epsilon, delta=delta) ** 2
    assert zcdp_epsilon(delta=delta, rho=rho) == pytest.approx(epsilon, rel=1e-6)
    assert zcdp_delta(epsilon=epsilon, rho=rho) == pytest.approx(delta, rel=1e-6)
    assert gaussian_delta(epsilon=epsilon, mu=Gdp.from_squared(2 * rho).mu) <= zcdp_delta(epsilon=epsilon, rho=rho)


@settings(max_examples=40, deadline=None)
@given(epsilons)
def test_pure_to_gdp_covers_randomised_response(epsilon):
    """The tradeoff curve's corner of epsilon-DP lies on or above the Gaussian curve, by another formula."""
    mu = convert(Pure(epsilon=epsilon), Gdp).mu
    with mpmath.workdps(100):
        tail = mpmath.erfc(as_mpf(mu) / 2 / mpmath.sqrt(2)) / 2
        corner = 1 / (1 + mpmath.exp(as_mpf(epsilon)))
        assert corner * (1 - mpmath.mpf("1e-9") * max(1, epsilon)) <= tail <= corner


@settings(max_examples=25, deadline=None)
@given(st.fractions(Fraction(1, 100), 4, max_denominator=100), st.fractions(Fraction(1, 100), 4, max_denominator=100))
def test_conversions_keep_the_order(a, b):
    """More is never converted to less."""
    low, high = sorted((a, b))
    for make, targets in (
        (lambda x: Pure(epsilon=x), (Approx, Zcdp, Gdp)),
        (lambda x: Gdp(mu=x), (Zcdp, Approx)),
        (lambda x: Zcdp(rho=x), (Approx,)),
    ):
        for target in targets:
            less, more = (convert(make(x), target, delta=Fraction(1, 10**6)) for x in (low, high))
            assert less <= more


def test_conversions_never_beat_the_direct_road():
    """Gdp by way of Zcdp to Approx costs at least as much as the exact curve."""
    delta = Fraction(1, 10**6)
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(5)):
        by_gdp = convert(Pure(epsilon=epsilon), Gdp)
        assert convert(by_gdp, Approx, delta=delta) <= convert(convert(by_gdp, Zcdp), Approx, delta=delta)


def test_exact_conversions():
    """Where the theorem is rational, so is the answer."""
    assert convert(Pure(epsilon="1/2"), Zcdp) == Zcdp(rho="1/8")
    assert convert(Pure(epsilon=3), Approx) == Approx(epsilon=3, delta=0)
    assert convert(Gdp(mu=3), Zcdp) == Zcdp(rho="9/2")
    assert convert(Zcdp(rho=3), Zcdp) == Zcdp(rho=3)


@pytest.mark.parametrize("currency", [Pure, Zcdp, Gdp, Approx])
def test_nothing_costs_nothing(currency):
    """Zero is converted to zero wherever a theorem exists."""
    for source in (Pure, Gdp, Zcdp):
        try:
            answer = convert(source.zero(), currency, delta=0.5)
        except NoSoundConversion:
            continue
        assert answer.coordinates[0] == 0
    assert gaussian_delta(epsilon=1, mu=0) == zcdp_delta(epsilon=1, rho=0) == 0
    assert gaussian_mu(epsilon=1, delta=0) == zcdp_rho(epsilon=1, delta=0) == 0
    assert bun_steinke_rho(epsilon=0, delta=0.5) == 0


@pytest.mark.parametrize(
    ("budget", "currency"),
    [
        (Approx(epsilon=1, delta=0.1), Pure), (Approx(epsilon=1, delta=0.1), Zcdp), (Approx(epsilon=1, delta=0.1), Gdp),
        (Zcdp(rho=1), Pure), (Zcdp(rho=1), Gdp), (Gdp(mu=1), Pure),
    ],
)  # fmt: skip
def test_unsound_conversions_are_refused(budget, currency):
    """No theorem, no number; the message says why."""
    with pytest.raises(NoSoundConversion, match=f"has no price in {currency.__name__}: "):
        convert(budget, currency)


def test_a_missing_or_zero_delta_is_named():
    """From Zcdp and Gdp to Approx a positive delta must be chosen."""
    for budget in (Gdp(mu=1), Zcdp(rho=1)):
        with pytest.raises(InvalidArgument, match="`delta` is needed"):
            convert(budget, Approx)
        with pytest.raises(InvalidArgument, match="`delta` must be greater than 0"):
            convert(budget, Approx, delta=0)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1e-30", "1e-6"), ("1e-6", "1e-30"), ("1e6", "1e-6"), ("1e40", "1e-6"), ("1e300", "0.5"), ("1e400", "1e-9"),
     ("0.5", "0.999999"), ("100", "1e-3000"), ("0", "0." + 40 * "9"), ("1e-9", "0.9")],
)  # fmt: skip
def test_extreme_numbers_get_safe_answers(epsilon, delta):
    """Far outside of use the answers still exist, and still are on the safe side."""
    mu = gaussian_mu(epsilon=epsilon, delta=delta)
    assert mu > 0
    assert gaussian_epsilon(delta=delta, mu=mu) <= Fraction(epsilon)
    rho = zcdp_rho(epsilon=epsilon, delta=delta)
    assert 0 < rho <= mu**2 / 2 * (1 + Fraction(1, 10**12))
    assert float(convert(Pure(epsilon=epsilon), Gdp).mu) >= 0


@pytest.mark.parametrize("answer", [gaussian_delta, lambda epsilon, mu: zcdp_delta(epsilon=epsilon, rho=mu)])
def test_delta_is_at_most_one_and_never_a_float_zero(answer):
    """Hopeless noise gives delta 1 (or a hair below), perfect noise the smallest positive double."""
    assert answer(epsilon=1, mu=10**9) == 1
    assert float(answer(epsilon=10**6, mu="0.001")) == 5e-324


def test_groups_multiply():
    """Three records cost 3 epsilon, 9 rho, 3 mu, and delta (1 + e + e**2)."""
    assert group(Pure(epsilon=1), size=3) == Pure(epsilon=3)
    assert group(Zcdp(rho=0.5), size=3) == Zcdp(rho=4.5)
    assert group(Gdp(mu=1), size=3) == Gdp(mu=3)
    three = group(Approx(epsilon=1, delta=1e-6), size=3)
    assert three.epsilon == 3
    assert float(three.delta) == pytest.approx(1.1107338e-5, rel=1e-6)
    assert as_mpf(three.delta) >= mpmath.mpf("1e-6") * (1 + mpmath.e + mpmath.e**2)
    assert group(Approx(epsilon=0, delta=0.1), size=3) == Approx(epsilon=0, delta=0.3)
    assert group(Approx(epsilon=2, delta=0), size=2) == Approx(epsilon=4, delta=0)
    assert group(Approx(epsilon=2, delta=0.1), size=1) == Approx(epsilon=2, delta=0.1)


@pytest.mark.parametrize("epsilon", [1, 1000])
def test_a_group_without_promise_is_refused(epsilon):
    """A delta of 1 promises nothing."""
    with pytest.raises(InvalidArgument, match="its delta reaches 1"):
        group(Approx(epsilon=epsilon, delta=0.3), size=3)


def test_compositions_meet_in_a_common_currency():
    """Pure joins any other, Gdp joins Zcdp, Approx joins only Pure."""
    assert compose([Pure(epsilon=1), Pure(epsilon=2)]) == Pure(epsilon=3)
    assert compose([Pure(epsilon=1), Approx(epsilon=1, delta=0.1)]) == Approx(epsilon=2, delta=0.1)
    assert compose([Gdp(mu=1), Zcdp(rho=1)]) == Zcdp(rho="3/2")
    assert compose([Gdp(mu=3), Gdp(mu=4)]) == Gdp(mu=5)
    assert compose(iter([Pure(epsilon=1), Gdp(mu=1)])) >= Gdp(mu=1)
    with pytest.raises(NoSoundConversion, match="Approx does not add up"):
        compose([Gdp(mu=1), Approx(epsilon=1, delta=0.1)])
    with pytest.raises(InvalidArgument, match="at least one"):
        compose([])


def test_answers_do_not_change_from_call_to_call():
    """The same question has the same exact answer, cached or not."""
    from discreet.privacy import gaussian_accounting

    first = gaussian_mu(epsilon=1, delta=1e-6)
    gaussian_accounting.mu_of.cache_clear()
    assert gaussian_mu(epsilon=1, delta=1e-6) == first == Fraction(first)
    assert first.denominator & (first.denominator - 1) == 0


def test_numbers_beyond_any_use_are_refused():
    """Where thousands of digits would be needed, an error says so instead of a search without end."""
    with pytest.raises(InvalidArgument, match="too extreme to be priced"):
        gaussian_delta(epsilon=Fraction(1, 10**4000), mu=Fraction(1, 10**4000))


def test_threads_get_the_same_answers():
    """Conversions share no state that another thread could spoil."""
    from concurrent.futures import ThreadPoolExecutor

    from discreet.privacy import gaussian_accounting

    def ask(k):
        return gaussian_accounting.mu_of.__wrapped__(Fraction(1 + k % 4), Fraction(1, 10 ** (1 + k % 3)))

    alone = [ask(k) for k in range(12)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, list(range(12)) * 4)) == alone * 4
