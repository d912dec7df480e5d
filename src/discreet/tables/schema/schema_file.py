"""The schema file: declarations to TOML and JSON and back, checked by pydantic, errors that name column and key."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)

from discreet.errors import InvalidArgument
from discreet.lattice.bounds import check_limits
from discreet.privacy.adjacency import Adjacency, Replace, adjacency_from_name
from discreet.tables.schema.columns import Category, Column, Constant, Date, Flag, Missing, Number, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Declarations:
    """What a schema file says.

    Parameters
    ----------
    columns : dict of str to Number, Date, Category or Flag
    adjacency : Replace or AddRemove, optional
    reading : Reading
    description : str, optional
    unit : str, optional
    rows_per_unit : int, optional
    """

    columns: dict[str, Column]
    adjacency: Adjacency | None
    reading: Reading
    description: str | None
    unit: str | None = None
    rows_per_unit: int | None = None


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


_Day = StrictStr | Annotated[date, Strict()]


class _ConstantModel(_Strict):
    constant: StrictInt | StrictFloat | StrictStr | StrictBool | Annotated[date, Strict()]


_Policy = Literal["error", "drop"] | _ConstantModel


class _NumberModel(_Strict):
    kind: Literal["number"]
    lower: StrictInt | StrictFloat
    upper: StrictInt | StrictFloat
    missing: _Policy = "error"
    description: StrictStr | None = None
    unit: StrictStr | None = None


class _DateModel(_Strict):
    kind: Literal["date"]
    lower: _Day
    upper: _Day
    format: StrictStr = "%Y-%m-%d"
    missing: _Policy = "error"
    description: StrictStr | None = None


class _CategoryModel(_Strict):
    kind: Literal["category"]
    levels: list[StrictStr | StrictInt]
    missing: _Policy = "error"
    description: StrictStr | None = None
    labels: dict[StrictStr, StrictStr | StrictInt] = {}


class _FlagModel(_Strict):
    kind: Literal["flag"]
    missing: _Policy = "error"
    description: StrictStr | None = None
    labels: dict[StrictStr, StrictInt | StrictBool] = {}


_ColumnModel = _NumberModel | _DateModel | _CategoryModel | _FlagModel


class _ReadingModel(_Strict):
    delimiter: StrictStr = ","
    missing_tokens: list[StrictStr] = []
    thousands: StrictStr | None = None
    decimal: StrictStr = "."
    encoding: StrictStr = "utf-8"
    quote: StrictStr = '"'
    newlines_in_cells: StrictBool = False


class _SchemaModel(_Strict):
    format: Literal[1]
    adjacency: Literal["replace", "add-remove"] | None = None
    description: StrictStr | None = None
    unit: StrictStr | None = None
    rows_per_unit: StrictInt | None = None
    reading: _ReadingModel = _ReadingModel()
    columns: dict[StrictStr, Annotated[_ColumnModel, Field(discriminator="kind")]]


_REMEDIES = {
    "missing": "is missing; declare it",
    "extra_forbidden": "is not a key of a schema; remove it or correct its spelling",
    "union_tag_not_found": 'needs `kind`: "number", "date", "category" or "flag"',
    "union_tag_invalid": 'needs `kind` to be "number", "date", "category" or "flag"',
    "finite_number": "must be finite",
}
_KINDS = ("number", "date", "category", "flag")


def _complaint(details: Any) -> str:
    """Say what is wrong in terms of column and key; pydantic's own text may quote values."""
    place = [str(part) for part in details["loc"]]
    remedy = _REMEDIES.get(details["type"], "has a value that is not allowed here; see the documentation of schemas")
    if place and place[0] == "columns" and len(place) > 1:
        where = f"Column `{place[1]}`"
        keys = [part for part in place[2:] if part not in _KINDS][:1]
    else:
        where, keys = "The schema", [".".join(place)]
    if details["type"] == "missing" and keys and keys[0] in {"lower", "upper"}:
        return (
            f"{where}: `{keys[0]}` is missing. Declare the public range of the column; it is never read from the rows."
        )
    if details["type"] == "missing" and keys == ["levels"]:
        return f"{where}: `levels` is missing. Declare the public code list; it is never read from the rows."
    return f"{where}: {f'`{keys[0]}` ' if keys and keys[0] else ''}{remedy}."


def from_object(value: Mapping[str, Any]) -> Declarations:
    """Return what a plain object, from TOML or JSON, declares."""
    complaint = None
    try:
        model = _SchemaModel.model_validate(value)
    except ValidationError as error:
        complaint = _complaint(error.errors(include_url=False, include_context=False, include_input=False)[0])
    if complaint is not None:
        raise InvalidArgument(complaint)
    given: dict[str, Any] = model.reading.model_dump()
    reading = Reading(**(given | {"missing_tokens": tuple(model.reading.missing_tokens)}))
    return Declarations(
        columns={name: _column(name, column) for name, column in model.columns.items()},
        adjacency=None if model.adjacency is None else adjacency_from_name(model.adjacency),
        reading=reading,
        description=model.description,
        unit=model.unit,
        rows_per_unit=model.rows_per_unit,
    )


def _column(name: str, model: _ColumnModel) -> Column:
    # A constant date stays one until its column makes it a number of days.
    constant: Any = model.missing.constant if isinstance(model.missing, _ConstantModel) else None
    policy: Missing = model.missing if constant is None else Constant(constant)  # type: ignore[assignment]
    if isinstance(model, _NumberModel):
        check_limits(model.lower, model.upper, column=name)  # its errors name the column
    try:
        if isinstance(model, _NumberModel):
            return Number(model.lower, model.upper, missing=policy, description=model.description, unit=model.unit)
        if isinstance(model, _DateModel):
            return Date(model.lower, model.upper, format=model.format, missing=policy, description=model.description)
        if isinstance(model, _CategoryModel):
            levels = tuple(map(str, model.levels))
            return Category(levels, missing=policy, description=model.description, labels=model.labels)
        return Flag(missing=policy, description=model.description, labels=model.labels)
    except InvalidArgument as error:
        reason = str(error)
    raise InvalidArgument(f"Column `{name}`: {reason}")


def read(path: Path) -> Declarations:
    """Return what the TOML file at `path` declares."""
    reason = None
    try:
        value = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        reason = error.strerror or "it cannot be read"
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except tomllib.TOMLDecodeError as error:
        reason = f"it is not TOML: {error}"
    if reason is not None:
        raise InvalidArgument(f"Cannot read the schema file {path.name}: {reason}. Correct the file.")
    return from_object(value)


def as_object(declared: Declarations) -> dict[str, Any]:
    """Return declarations as a plain object that TOML and JSON can both hold; what is default is left out."""
    value: dict[str, Any] = {"format": 1}
    if declared.adjacency is not None:
        value["adjacency"] = "replace" if isinstance(declared.adjacency, Replace) else "add-remove"
    if declared.description is not None:
        value["description"] = declared.description
    if declared.unit is not None:
        value["unit"] = declared.unit
        value["rows_per_unit"] = declared.rows_per_unit
    if declared.reading != Reading():
        reading = declared.reading
        value["reading"] = {"delimiter": reading.delimiter, "missing_tokens": list(reading.missing_tokens)}
        if reading.thousands is not None:
            value["reading"]["thousands"] = reading.thousands
        for name in ("decimal", "encoding", "quote", "newlines_in_cells"):
            if getattr(reading, name) != getattr(Reading(), name):
                value["reading"][name] = getattr(reading, name)
    value["columns"] = {name: _column_object(column) for name, column in declared.columns.items()}
    return value


def _column_object(column: Column) -> dict[str, Any]:
    value: dict[str, Any]
    if isinstance(column, Date):
        value = {"kind": "date", "lower": str(column.first), "upper": str(column.last), "format": column.format}
    elif isinstance(column, Number):
        value = {"kind": "number", "lower": _short(column.lower), "upper": _short(column.upper)}
        if column.unit is not None:
            value["unit"] = column.unit
    elif isinstance(column, Category):
        value = {"kind": "category", "levels": list(column.levels)}
    else:
        value = {"kind": "flag"}
    if isinstance(column.missing, Constant):
        constant = column.missing.value
        if isinstance(column, Date):
            constant = str(column.first + timedelta(days=int(constant)))
        value["missing"] = {"constant": constant if isinstance(constant, str) else _short(constant)}
    elif column.missing != "error":
        value["missing"] = column.missing
    if isinstance(column, (Category, Flag)) and column.labels:
        labels = dict(column.labels)
        value["labels"] = labels if isinstance(column, Category) else {key: int(level) for key, level in labels.items()}
    if column.description is not None:
        value["description"] = column.description
    return value


def _short(number: float) -> float | int:
    """Return a whole number below 2**53 as an int, so that files read 90 and not 90.0."""
    return int(number) if number.is_integer() and abs(number) < 2**53 and str(number) != "-0.0" else number


def toml_text(declared: Declarations) -> str:
    """Return declarations as the text of a TOML file."""
    value = as_object(declared)
    columns = value.pop("columns")
    reading = value.pop("reading", None)
    parts = [_pairs(value)]
    if reading is not None:
        parts.append("[reading]\n" + _pairs(reading))
    parts += [f"[columns.{toml_key(name)}]\n{_pairs(column)}" for name, column in columns.items()]
    return "\n".join(parts)


def _pairs(table: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_toml(entry)}\n" for key, entry in table.items())


def toml_key(name: str) -> str:
    """Return a column's name as a key of a TOML table: quoted where it is not plain."""
    bare = name.isascii() and all(letter.isalnum() or letter in "-_" for letter in name)
    return name if bare else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{toml_key(key)} = {_toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, str):
        # TOML's basic strings are JSON's, but that DEL must be escaped and surrogate pairs must not.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)
