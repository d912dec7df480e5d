"""The Adult data set: 32,561 people of the 1994 US Current Population Survey, with a schema of public facts."""

from __future__ import annotations

from importlib import resources
from pathlib import Path


def table() -> Path:
    """Return the path of the table, a CSV file compressed with gzip.

    Examples
    --------
    >>> table().name
    'adult.csv.gz'
    """
    return _file("adult.csv.gz")


def schema() -> Path:
    """Return the path of its schema: bounds from the survey's documentation, levels from the published code lists.

    Examples
    --------
    >>> from discreet.tables.schema.schema import Schema
    >>> Schema.from_toml(schema()).columns["age"].upper
    90.0
    """
    return _file("adult.toml")


def attribution() -> Path:
    """Return the path of the attribution that the data set's licence asks for."""
    return _file("ATTRIBUTION.md")


def _file(name: str) -> Path:
    return Path(str(resources.files("discreet.examples") / name))
