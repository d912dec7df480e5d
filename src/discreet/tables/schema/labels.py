"""Class labels of any kind, coded as whole numbers or as -1 and +1, without ever quoting one."""

from __future__ import annotations

import math
import numbers
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._warnings import warn
from discreet.errors import ClassLabelsWarning, InvalidArgument, InvalidData, InvalidType

if TYPE_CHECKING:
    from numpy.typing import NDArray

# More kinds of label than this are numbers by mistake.
MOST_CLASSES = 1000
TROUBLE = (
    "a label is missing or is none of the classes (inside tools that encode labels as 0 and 1, such as voting, "
    "stacking and cross-validated probabilities, declare classes=(0, 1))"
)
MAP = 'Map the labels to two first, such as y.str.lower().map({"no": 0, "yes": 1}), or declare classes=("no", "yes").'


@dataclass(frozen=True, eq=False)
class Labels:
    """Private labels.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels that are coded 0, 1, ..., in this order.
    private_codes : ndarray of float64, shape (n_rows,)
        The codes; NaN where a label is missing or is none of the classes.
    were_read : bool
        Whether the classes were read from the labels, not declared.
    """

    classes: NDArray[Any]
    private_codes: NDArray[np.float64]
    were_read: bool

    @property
    def private_signs(self) -> NDArray[np.float64]:
        """The codes of two classes as -1 and +1."""
        return 2.0 * self.private_codes - 1.0


def check_classes(classes: Any, *, several: bool = False) -> NDArray[Any]:
    """Return two declared labels as an array, in their order; or `several`, two or more.

    Raises
    ------
    InvalidType, InvalidArgument
        If they are no sequence, not two, not distinct, or one of them stands for a missing cell.
    """
    if isinstance(classes, (str, bytes)) or not hasattr(classes, "__iter__"):
        raise InvalidType(
            f'`classes` must be a sequence of two labels, such as ("no", "yes"); found {type(classes).__name__}.'
        )
    labels = [label.item() if isinstance(label, np.generic) else label for label in classes]
    if several and not 2 <= len(labels) <= MOST_CLASSES:
        raise InvalidArgument(f"`classes` must hold between 2 and {MOST_CLASSES} labels; found {len(labels)}.")
    if not several and len(labels) != 2:
        raise InvalidArgument(
            f"Only binary classification is supported. `classes` must hold two labels; found {len(labels)}."
        )
    if any(_is_missing(label) for label in labels):
        raise InvalidArgument("`classes` must hold labels; one of them is None, NaN or cannot be compared.")
    if len(set(labels)) != len(labels):
        raise InvalidArgument("`classes` must hold two different labels or more; found one twice.")
    return _as_array(labels)


def code_labels(y: NDArray[Any], classes: NDArray[Any] | None, *, name: str, several: bool = False) -> Labels:
    """Return labels with their codes.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Private labels: texts, booleans, whole numbers (also as floats), or objects that can be compared.
    classes : ndarray of shape (n_classes,), or None
        The declared classes; None reads them from `y`, sorted, which makes them public by the owner's declaration.
    name : str
        How messages call `y`.
    several : bool
        Whether there may be more than two classes.

    Raises
    ------
    InvalidData
        If the classes are to be read and are too few, too many, or no labels, or if `y` as a whole holds numbers where
        only texts are declared, or texts where only numbers are; names `name`, never a label.

    Warns
    -----
    ClassLabelsWarning
        If the classes are to be read.

    Notes
    -----
    With declared classes of the kind of `y` this is total and a function of each label alone.
    """
    if y.dtype.kind == "c":
        raise InvalidData(f"Complex data not supported in `{name}`. Give one label a row.")
    if y.dtype.kind not in "biufOUST":
        raise InvalidData(f"`{name}` has the type {y.dtype}, which holds no labels. Convert it to texts or numbers.")
    if classes is None:
        warn(
            f"The class labels are read from `{name}`, a look at private rows that no budget pays for. "
            "Declare them: `classes`, or the levels of a `schema`.",
            ClassLabelsWarning,
        )
    else:
        refuse_encoded(y, classes, name=name)
    if y.dtype.kind in "biuf":
        found = _numeric_classes(y, name, several=several) if classes is None else classes
        return Labels(found, _numeric_codes(y, found), classes is None)
    cells = y.tolist()
    found = _object_classes(cells, name, several=several) if classes is None else classes
    codes = {label: float(code) for code, label in enumerate(found.tolist())}
    return Labels(found, np.array([_code(cell, codes) for cell in cells], dtype=np.float64), classes is None)


def refuse_encoded(y: NDArray[Any], classes: NDArray[Any], *, name: str, declared_as: str = "`classes`") -> None:
    """Refuse labels of another kind than the declared ones, by the type of the whole column alone, which is public.

    Raises
    ------
    InvalidData
        If `y` holds numbers and every class is a text, or texts and every class is a number.
    """
    kinds = {str if isinstance(label, str) else float for label in classes.tolist()}
    if y.dtype.kind in "biuf" and kinds == {str}:
        codes = tuple(range(len(classes)))
        raise InvalidData(
            f"`{name}` holds numbers, and {declared_as} declares texts. Declare the labels as they stand in `{name}`: "
            'tools that encode them, such as cross_val_predict(method="predict_proba"), VotingClassifier and '
            f"StackingClassifier, hand over whole numbers from 0, so inside them declare classes={codes}."
        )
    if y.dtype.kind in "UST" and kinds == {float}:
        raise InvalidData(
            f"`{name}` holds texts, and {declared_as} declares numbers. Declare the labels as they stand in `{name}`, "
            'such as classes=("no", "yes").'
        )


def _numeric_classes(y: NDArray[Any], name: str, *, several: bool) -> NDArray[Any]:
    there = y
    if y.dtype.kind == "f":
        finite = np.isfinite(y)
        there = y if finite.all() else y[finite]
        if not (np.floor(there) == there).all():
            raise InvalidData(
                f"Unknown label type: `{name}` holds numbers that are not whole. "
                "Classes are labels: fit a regression of a number."
            )
    if there.size == 0:
        raise _too_few(name)
    low, high = there.min(), there.max()
    if low == high:
        raise _too_few(name)
    if several:
        classes = np.unique(there)
        _check_number(classes.size, name, several=True)
        return classes
    if not ((there == low) | (there == high)).all():
        raise _too_many(name)
    return np.array([low, high], dtype=y.dtype)


def _numeric_codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    labels = classes.tolist()
    if not all(_is_number(label) for label in labels):
        known = {label: float(code) for code, label in enumerate(labels)}
        return np.array([known.get(cell, np.nan) for cell in y.tolist()], dtype=np.float64)
    codes = np.full(y.shape, np.nan)
    for code, label in enumerate(labels):
        exact = _in_type_of(y, label)
        if exact is not None:
            codes[y == exact] = code
    return codes


def _in_type_of(y: NDArray[Any], label: Any) -> Any:
    """Return a label as a number that compares exactly with numbers of one type, or None if none of them can be it."""
    if y.dtype.kind == "f":
        return np.float64(label) if float(label) == label else None
    whole = math.isfinite(label) and int(label) == label
    return int(label) if whole else None


def _object_classes(cells: list[Any], name: str, *, several: bool) -> NDArray[Any]:
    unlike = f"The labels of `{name}` cannot be told apart or sorted. Declare them with `classes`."
    try:
        found = {cell for cell in set(cells) if not _is_missing(cell)}
    except Exception:  # noqa: BLE001  (labels of any kind, which raise what they like)
        found = None
    if found is None:
        raise InvalidData(unlike)
    if any(isinstance(label, float) and not label.is_integer() for label in found):
        raise InvalidData(
            f"Unknown label type: `{name}` holds numbers that are not whole. "
            "Classes are labels: fit a regression of a number."
        )
    _check_number(len(found), name, several=several)
    ordered = None
    with suppress(Exception):  # texts and numbers have no order
        ordered = sorted(found)
    if ordered is None:
        raise InvalidData(unlike)
    return _as_array(ordered)


def _check_number(n_classes: int, name: str, *, several: bool) -> None:
    if n_classes < 2:
        raise _too_few(name)
    if several and n_classes > MOST_CLASSES:
        raise InvalidData(
            f"`{name}` holds more than {MOST_CLASSES} different labels. Declare `classes`, or fit a regression."
        )
    if not several and n_classes > 2:
        raise _too_many(name)


def _code(cell: Any, codes: dict[Any, float]) -> float:
    try:
        return codes.get(cell, np.nan)
    except Exception:  # noqa: BLE001  (whatever the object raises, its label is missing)
        return np.nan


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or an object that is not even equal to itself, such as pandas' NA."""
    try:
        hash(label)
        return label is None or not bool(label == label)  # noqa: PLR0124
    except Exception:  # noqa: BLE001  (whatever the object raises, it is no label)
        return True


def _is_number(label: Any) -> bool:
    return isinstance(label, numbers.Real)


def _as_array(labels: list[Any]) -> NDArray[Any]:
    for kind in (str, bool, numbers.Real):
        if all(isinstance(label, kind) for label in labels):
            return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def _too_few(name: str) -> InvalidData:
    return InvalidData(f"`{name}` shows one class or none; two are needed. Declare them with `classes`.")


def _too_many(name: str) -> InvalidData:
    return InvalidData(f"Only binary classification is supported. `{name}` holds more than two labels. {MAP}")
