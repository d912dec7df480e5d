"""The package as it is installed."""

import ast
import builtins
import importlib
import io
import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import files, requires
from pathlib import Path

import pytest

import discreet as dp
from public_names import IN_ROOMS, ROOMS


def test_every_public_name_can_be_imported_and_is_documented():
    """`__all__` is what is importable, and each name has a docstring."""
    for name in dp.__all__:
        value = getattr(dp, name)
        assert name == "__version__" or value.__doc__
    assert dir(dp) == dp.__all__
    with pytest.raises(AttributeError, match="absent"):
        dp.absent  # noqa: B018


def test_the_tests_run_against_the_installed_package():
    """Under `make test` the package comes from the wheel, not from the source tree."""
    home = Path(dp.__file__).resolve()
    if os.environ.get("DISCREET_INSTALLED"):
        assert "site-packages" in home.parts


def test_the_wheel_is_small_and_complete():
    """py.typed and the example data are installed; all files, packed as in a wheel, weigh less than 2 MB."""
    root = Path(dp.__file__).parent
    for name in ("py.typed", "examples/adult.csv.gz", "examples/adult.toml", "examples/ATTRIBUTION.md"):
        assert (root / name).is_file()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in root.rglob("*"):
            if path.is_file() and path.suffix not in {".pyc", ".so"}:
                wheel.write(path, path.relative_to(root))
    assert packed.tell() < 2_000_000
    assert files("discreet")
    assert requires("discreet")


def test_importing_the_package_imports_nothing_heavy():
    """`import discreet` loads neither numpy nor any other package of ours that is not asked for."""
    code = "import sys, discreet; print([m for m in ('numpy', 'scipy', 'sklearn', 'pyarrow') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# At most 48; later issues add theirs.
AT_MOST = 48
TOP = [
    "AddRemove",
    "Approx",
    "BoundsScaler",
    "Box",
    "BudgetExceeded",
    "Category",
    "Date",
    "DiscreetError",
    "DiscreetWarning",
    "Flag",
    "FrankWolfeLinearRegression",
    "FrankWolfeLogisticRegression",
    "FunctionalLinearRegression",
    "FunctionalLogisticRegression",
    "Gdp",
    "Interval",
    "InvalidArgument",
    "InvalidData",
    "InvalidFormula",
    "KNormGradientLinearRegression",
    "KNormGradientLogisticRegression",
    "KNormGradientQuantileRegression",
    "Ledger",
    "LinearRegression",
    "LogisticRegression",
    "Moments",
    "NoiseDominatedWarning",
    "Number",
    "PerturbedLogisticRegression",
    "PoissonRegression",
    "PrivatePCA",
    "PrivateSearch",
    "Pure",
    "RegressionResult",
    "Release",
    "Replace",
    "Schema",
    "SparseLinearRegression",
    "SparseLogisticRegression",
    "TwoStageLinearRegression",
    "TwoStageLogisticRegression",
    "Zcdp",
    "forecast",
    "median",
    "quantile",
    "release",
    "release_moments",
    "write_report",
]
# What stood at the top in 0.1.0, by where it stands now.
MOVED = {
    "errors": "AdjacencyMismatch ClassLabelsWarning IncompatiblePlan LargeDeltaWarning LedgerUnusable NoLedgerWarning "
    "NoSoundConversion",
    "functional": "Forecast LogisticObjective QuadraticObjective SquaredObjective",
    "privacy": "Coins PiecewiseLinear TradeoffFunction compose_plan geometric_runtime",
    "sampling": "BlockRestart ConstantAcceptance CoolDown Custom Discretized Draw FiniteCandidates GaussianBase "
    "KNormGradient Lipschitz LogConcave LogHoelder Normal Plain Posterior Squeeze StronglyConcave SyntheticData "
    "Truncated Uniform UserTarget posterior_draw sample",
}
OLD_NAMES = [(name, room) for room, names in MOVED.items() for name in names.split()]


def test_the_top_has_these_names_and_no_others():
    """The list of public names changes on purpose alone, and stays short."""
    assert sorted(set(dir(dp)) - {"__version__"}) == sorted(TOP)
    assert len(TOP) <= AT_MOST


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_what_it_has(room):
    """Its names can be imported from it, are in its `dir`, and are documented; what is absent is refused."""
    front = importlib.import_module(f"discreet.{room}")
    assert sorted(IN_ROOMS[room]) == dir(front) == sorted(front.__all__)
    assert getattr(dp, room) is front
    assert all(value.__doc__ for value in IN_ROOMS[room].values())
    with pytest.raises(AttributeError, match="absent"):
        front.absent  # noqa: B018


@pytest.mark.parametrize(("name", "room"), OLD_NAMES)
def test_an_old_name_of_the_top_works_and_says_where_it_stands(name, room):
    """It is the same object, is listed no more, and the warning names the new place."""
    with pytest.warns(DeprecationWarning, match=rf"`discreet\.{name}` has moved: use `discreet\.{room}\.{name}`"):
        found = getattr(dp, name)
    assert found is getattr(importlib.import_module(f"discreet.{room}"), name)
    assert name not in dir(dp)


def test_old_names_can_be_imported_from_the_top():
    """`from discreet import` of an old name warns in the file that imports it."""
    with pytest.warns(DeprecationWarning, match="discreet.sampling.Lipschitz") as caught:
        exec("from discreet import Lipschitz", {})  # noqa: S102
    assert {one.filename for one in caught} == {"<string>"}


def test_guides_name_the_new_places():
    """No guide, benchmark, experiment or docstring takes a moved name from the top."""
    root = Path(__file__).parents[1]
    guides = [path for path in root.glob("*.md") if path.name != "CHANGELOG.md"]
    places = [*guides, *(path for folder in ("docs", "src", "benchmarks", "experiments")
              for path in (root / folder).rglob("*") if path.suffix in {".md", ".py"})]  # fmt: skip
    names = "|".join(name for name, _ in OLD_NAMES)
    found = [path.name for path in places if re.search(rf"\b(dp|discreet)\.({names})\b(?!\.py)", path.read_text())]
    assert len(places) > 300
    assert found == []


def test_the_old_place_of_audit_cases_works_and_says_where_they_stand():
    """0.1.0 had the class in `discreet.audit.cases`."""
    from discreet.audit import AuditCase, cases

    with pytest.warns(DeprecationWarning, match="use `discreet.audit.AuditCase`"):
        assert cases.AuditCase is AuditCase
    with pytest.raises(AttributeError, match="absent"):
        cases.absent  # noqa: B018


@pytest.mark.parametrize("name", ["Category", "Date", "Flag", "Number"])
def test_the_old_place_of_columns_works_and_says_where_they_stand(name):
    """A guide of 0.1.0 had them in `discreet.tables.columns`."""
    columns = importlib.import_module("discreet.tables.columns")
    with pytest.warns(DeprecationWarning, match=f"use `discreet.{name}`"):
        assert getattr(columns, name) is getattr(dp, name)
    with pytest.raises(AttributeError, match="absent"):
        columns.absent  # noqa: B018


# Raised within the command alone, which prints it: typer's own, and options that do not go together.
OF_COMMANDS = {"Exit", "WrongUsage"}


def test_every_error_and_warning_stands_in_errors():
    """What a call raises or warns of can be caught by a name of `discreet.errors`, and is defined nowhere else."""
    raised = set()
    for path in Path(dp.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and path.name != "errors.py" and node.name not in OF_COMMANDS:
                assert not {ast.unparse(base) for base in node.bases} & {"Exception", *vars(dp.errors)}, path
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                raised.add(ast.unparse(node.exc.func))
    ours = {name for name in raised if name.isidentifier() and name[0].isupper() and not hasattr(builtins, name)}
    assert {"InvalidArgument", "BudgetExceeded"} <= ours
    assert ours - set(vars(dp.errors)) <= OF_COMMANDS


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_type_checkers_see_the_names(room):
    """A stub says each name as `name as name`, the form that type checkers take as public, and is installed."""
    stub = Path(importlib.import_module(f"discreet.{room}".rstrip(".")).__file__).with_suffix(".pyi")
    aliases = [alias for node in ast.parse(stub.read_text()).body for alias in getattr(node, "names", ())]
    assert aliases
    assert all(alias.asname == alias.name for alias in aliases)


# Rooms whose names are for the package itself.
OWN = (
    "cli", "descent", "descent.preconditioned", "descent.rivals", "estimators", "estimators.methods", "examples",
    "lattice", "lattice.noise", "models", "numbers", "privacy.curves", "privacy.events", "report", "sampling.k_norm",
    "sampling.pca", "sampling.quantiles", "sampling.targets", "tables", "tables.cells", "tables.readers",
    "tables.schema",
)  # fmt: skip


def test_the_other_rooms_export_nothing():
    """Their fronts hold a docstring and no names, so no inner module can lean on them."""
    for name in OWN:
        source = Path(importlib.import_module(f"discreet.{name}").__file__).read_text()
        assert "import" not in source.replace('"""', "")


def test_every_room_is_one_or_the_other():
    """A folder has public names, or is for the package itself."""
    root = Path(dp.__file__).parent
    rooms = {".".join(path.parent.relative_to(root).parts) for path in root.rglob("__init__.py")} - {""}
    assert rooms == {*OWN, *ROOMS, "audit.cases"}


def test_no_inner_module_leans_on_the_front_of_a_room():
    """Inside the package names are imported from where they are defined, so that no ring closes through a front."""
    fronts = "|".join(ROOMS)
    for path in Path(dp.__file__).parent.rglob("*.py"):
        code = re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
        taken = re.findall(rf"^ *from discreet\.({fronts}) import (\w+)", code, flags=re.MULTILINE)
        modules = [name for room, name in taken if not (Path(dp.__file__).parent / room / f"{name}.py").exists()]
        assert not modules, path
