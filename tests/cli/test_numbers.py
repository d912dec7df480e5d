"""Numbers on the command line are plain decimals or fractions, and ledgers are opened with the composition asked."""

import pytest

import discreet as dp

FIT = ("fit", "people.csv", "income ~ age", "--schema", "people.toml")
# What Python's own int and float read, and what a reader would not expect.
ODD = ("1_0", "\uff11", "\u0663", "1\u00a0", "0x1", "nan", "inf", "1e400", "1/0", "1/-2", "")


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("option", ["--epsilon", "--rho", "--mu"])
def test_a_budget_in_odd_digits_is_refused_by_name(folder, discreet, option, text):
    """Nothing is spent, and no ledger is made; the option is named."""
    code, _, told = discreet(*FIT, option, text, "--ledger", "l.ledger", "--total-epsilon", 20)
    assert code == 2
    assert option in told
    assert not (folder / "l.ledger").exists()


@pytest.mark.parametrize("text", ODD[:-1])
@pytest.mark.parametrize(
    "arguments",
    [
        (*FIT, "--epsilon", 1, "--delta"),
        (*FIT, "--epsilon", 1, "--ledger", "l.ledger", "--total-epsilon"),
        (*FIT, "--epsilon", 1, "--ledger", "l.ledger", "--total-epsilon", 1, "--total-delta"),
        (*FIT, "--epsilon", 1, "--loss", "logistic", "--radius"),
        ("plan", "income ~ age", "--schema", "people.toml", "--epsilon", 1, "--rows"),
        ("plan", "income ~ age", "--schema", "people.toml", "--epsilon", 1, "--rows", 9, "--r-squared"),
        ("sample", "people.csv", "pca", "--schema", "people.toml", "--epsilon", 1, "--components"),
        ("sample", "people.csv", "pca", "--schema", "people.toml", "--epsilon", 1, "--row-norm"),
        ("sample", "people.csv", "median", "income", "--schema", "people.toml", "--epsilon", 1, "--step"),
        ("audit", "laplace", "--runs"),
        ("audit", "laplace", "--seed"),
    ],
    ids=lambda arguments: f"{arguments[0]} {arguments[-1]}",
)
def test_every_number_is_read_alike(folder, discreet, arguments, text):
    """Whole or not, of a budget or not: plain digits, or a refusal that names the option."""
    code, _, told = discreet(*arguments, text)
    assert code in {1, 2}
    assert arguments[-1].lstrip("-").split("-")[-1] in told.lower()
    assert "unexpected" not in told
    assert not (folder / "l.ledger").exists()


@pytest.mark.parametrize("text", ["1_0", "\uff11", "\u0663", "nan", "inf", "1e400"])
@pytest.mark.parametrize(
    ("arguments", "pattern"),
    [
        ((*FIT, "--epsilon", 1, "--bounds"), "age=0,{}"),
        ((*FIT, "--epsilon", 1, "--bounds"), "age={},90"),
        (("plan", "income ~ age", "--schema", "people.toml", "--epsilon", 1, "--rows", 9, "--assume"), "age={},1"),
        (("sample", "people.csv", "pca", "--schema", "people.toml", "--epsilon", 1, "--center"), "age={}"),
    ],
    ids=["upper", "lower", "assume", "center"],
)
def test_numbers_within_texts_are_read_alike(folder, discreet, arguments, pattern, text):
    """Bounds, assumptions and middles."""
    code, _, told = discreet(*arguments, pattern.format(text))
    assert code == 2
    assert arguments[-1] in told


def test_plain_numbers_are_read(folder, discreet):
    """Decimals, exponents and fractions, as ever."""
    for text, epsilon in (("1/2", "1/2"), ("5e-1", "1/2"), (".5", "1/2"), ("+1.", "1")):
        ledger = f"{text.replace('/', '_')}.ledger"
        assert discreet(*FIT, "--epsilon", text, "--ledger", ledger, "--total-epsilon", "10")[0] == 0
        assert dp.Ledger.open(folder / ledger).spent == dp.Pure(epsilon=epsilon)


def test_the_composition_of_a_new_ledger_is_an_option(folder, discreet):
    """What adds up is asked for once, stands in the file, and may be repeated."""
    total = ("--total-epsilon", 1, "--total-delta", "1e-6")
    for composition, kept in (
        ("sum", "sum"),
        ("zcdp", "zcdp"),
        ("gdp", "gdp"),
        ("auto", "either"),
        ("either", "either"),
    ):
        asked = ("--ledger", f"{composition}.ledger", "--composition", composition)
        assert discreet(*FIT, "--epsilon", "0.1", *asked, *total)[0] == 0
        assert dp.Ledger.open(folder / f"{composition}.ledger").composition == kept
        assert discreet(*FIT, "--epsilon", "0.01", *asked)[0] == 0
    code, _, told = discreet(*FIT, "--epsilon", "0.1", "--ledger", "sum.ledger", "--composition", "gdp")
    assert (code, "`composition`" in told) == (1, True)
    code, _, told = discreet(*FIT, "--epsilon", 1, "--ledger", "new.ledger", *total, "--composition", "pld")
    assert (code, "--composition" in told) == (2, True)
    code, _, told = discreet(*FIT, "--epsilon", 1, "--composition", "sum")
    assert (code, "--ledger FILE" in told) == (2, True)


def test_ten_pure_fits_fit_into_a_total_with_a_delta(folder, discreet):
    """All ten are granted under the default; the eleventh is refused, and told what is left."""
    asked = (*FIT, "--epsilon", "0.1", "--ledger", "l.ledger")
    assert discreet(*asked, "--total-epsilon", 1, "--total-delta", "1e-6")[0] == 0
    for _ in range(9):
        assert discreet(*asked)[0] == 0
    code, _, told = discreet(*asked)
    assert code == 3
    assert "for pure releases alone epsilon 0 is left" in told
    assert "larger total for the same people" in told
    shown = discreet("ledger", "l.ledger")[1]
    assert "Spent Pure(epsilon=1)" in shown
    assert "for pure releases alone Pure(epsilon=0)" in shown


EXTREME = [
    ("--epsilon", size, *delta) for size in ("1e308", "1e-308", "1e30", "1e-30") for delta in ((), ("--delta", "1e-9"))
] + [("--epsilon", "1", "--delta", "0"), ("--epsilon", "1", "--delta", "0.9")]
EXTREME += [(option, size) for option in ("--rho", "--mu") for size in ("1e308", "1e-308", "1e30", "1e-30")]
COMMANDS = {
    "fit": FIT,
    "fit --method": (*FIT, "--method", "auto"),
    "release": ("release", "people.csv", "--schema", "people.toml", "-o", "r.json"),
    "plan": ("plan", "income ~ age", "--schema", "people.toml", "--rows", 2000),
    "median": ("sample", "people.csv", "median", "income", "--schema", "people.toml"),
    "pca": ("sample", "people.csv", "pca", "income", "age", "--schema", "people.toml"),
}


@pytest.mark.filterwarnings("ignore::discreet.errors.DiscreetWarning")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_or_refuses_an_extreme_budget(folder, discreet, name):
    """Never an unexpected error: a refusal names the budget or its parameter."""
    for budget in EXTREME:
        code, _, told = discreet(*COMMANDS[name], *budget)
        assert "unexpected" not in told, (budget, told)
        assert code in {0, 1, 2}
        assert code == 0 or any(word in told for word in ("epsilon", "delta", "rho", "mu", "budget")), (budget, told)
        (folder / "r.json").unlink(missing_ok=True)
