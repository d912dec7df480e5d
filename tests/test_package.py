"""The package as it is installed."""

import importlib
import io
import os
import subprocess
import sys
import zipfile
from importlib.metadata import files, requires
from pathlib import Path

import pytest

import discreet as dp


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


def test_sub_packages_export_nothing():
    """A sub-package's front holds a docstring and no names, so no inner module can lean on it."""
    for name in (
        "privacy",
        "lattice",
        "lattice.noise",
        "tables",
        "functional",
        "descent",
        "report",
        "sampling",
        "estimators",
        "audit",
        "cli",
        "examples",
    ):
        source = Path(importlib.import_module(f"discreet.{name}").__file__).read_text()
        assert "import" not in source.replace('"""', "")
