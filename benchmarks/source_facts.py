"""What the text of a package tells without running it: lines, names, imports, folders, contracts."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGE = "discreet"
# "The estimators" before and after they moved into one room; a name that ends in a slash is a folder. Before: all of
# regression/, the scikit-learn classes of the three pillars with their bases, files and search, and what they alone
# took from tables/. Now: estimators/ and every folder called models/. Files of the first list that stand outside those
# folders today count on both sides, wherever they moved.
ESTIMATORS_BEFORE = (
    "regression/",
    *(f"functional/{name}.py" for name in ("estimator", "models", "logistic", "neighbours")),
    *(f"descent/{name}.py" for name in ("estimator", "classifier", "regressor", "models", "model_files")),
    *(f"descent/{name}.py" for name in ("one_model_a_class", "perturbed_models", "frank_wolfe_models")),
    *(f"descent/{name}.py" for name in ("two_stage_models", "step_family", "search", "search_rows", "search_plan")),
    "descent/findings.py",
    # What a fitted model says, which is in models/ now.
    *(f"functional/{name}.py" for name in ("inference", "summary", "tails", "findings")),
    *(f"sampling/{name}.py" for name in ("k_norm_estimator", "k_norm_models", "quantile_models", "pca")),
    *(f"sampling/{name}.py" for name in ("model_rows", "draw_files")),
    *(f"tables/{name}.py" for name in ("scaling", "scores", "arguments")),
)
ESTIMATORS_NOW = (
    "estimators/",
    "models/",
    # What was among the estimators before, and has gone down to its pillar.
    *(f"descent/{name}.py" for name in ("search", "preconditioned/models", "preconditioned/weights")),
    *(f"sampling/{name}.py" for name in ("draw_files", "pca/released", "k_norm/model_rows")),
)
_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(text: str) -> int:
    """Return the number of lines that hold code: neither blank, nor a comment, nor a docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.difference_update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def rings(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of nodes that can be reached from each other, without the groups of one."""
    names = sorted(edges)
    place = {name: index for index, name in enumerate(names)}
    pairs = [(place[name], place[target]) for name, targets in edges.items() for target in targets]
    rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
    graph = csr_array((np.ones(len(pairs)), (rows, columns)), shape=(len(names), len(names)))
    _, labels = connected_components(graph, connection="strong")
    groups = defaultdict(list)
    for name, label in zip(names, labels, strict=True):
        groups[label].append(name)
    return sorted(group for group in groups.values() if len(group) > 1)


def imports(tree: ast.AST, name: str, *, is_package: bool, modules: Iterable[str]) -> set[str]:
    """Return the modules of ours that a module imports, wherever that stands: late and type-only imports count."""
    known = set(modules)
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".")
                above = parts[: len(parts) - node.level + is_package]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                found.update([whole] if whole in known else {base} & known)
    return found


class Source:
    """The text of one checkout, read once.

    Parameters
    ----------
    checkout : Path
        The folder that holds `src/discreet`, `pyproject.toml` and `docs`.
    """

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.package = checkout / "src" / PACKAGE

    @cached_property
    def texts(self) -> dict[str, str]:
        """The text of every Python file, by its path inside the package."""
        found = sorted(self.package.rglob("*.py"))
        return {path.relative_to(self.package).as_posix(): path.read_text(encoding="utf-8") for path in found}

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """What every file says, by the module's name."""
        return {module_name(path): ast.parse(text) for path, text in self.texts.items()}

    @cached_property
    def edges(self) -> dict[str, set[str]]:
        """Which modules a module imports, at load time, late or for types alone."""
        packages = {module_name(path) for path in self.texts if path.endswith("__init__.py")}
        return {
            name: imports(tree, name, is_package=name in packages, modules=self.trees)
            for name, tree in self.trees.items()
        }

    def lines(self, places: tuple[str, ...] = ("",)) -> int:
        """Return the lines of code in all files, or in some: paths, and folders that end in a slash."""
        return sum(code_lines(text) for path, text in self.texts.items() if _within(path, places))

    @property
    def estimators(self) -> tuple[str, ...]:
        """Which files are counted as estimators in this checkout."""
        return ESTIMATORS_BEFORE if (self.package / "regression").is_dir() else ESTIMATORS_NOW

    def rings(self) -> list[list[str]]:
        """Return the groups of modules that import each other, round about."""
        return rings(self.edges)

    def crowded(self) -> dict[str, int]:
        """Return how many Python files stand side by side in each folder, `__init__.py` counted."""
        return dict(Counter(Path(path).parent.as_posix() for path in self.texts))

    def class_homes(self) -> dict[str, list[str]]:
        """Return the modules of each class name that has more than one; names for a module's own use do not count."""
        homes = defaultdict(list)
        for name, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(name)
        return {name: places for name, places in sorted(homes.items()) if len(places) > 1}

    def alone(self) -> list[str]:
        """Return the modules that no other module imports, no guide names and no entry point starts.

        A module that only hands out names which have moved stands for its former place, and does not count.
        """
        guides = [self.checkout / "README.md", *sorted((self.checkout / "docs").glob("*.md"))]
        guides = [path for path in guides if path.name != "errors.md"]  # it lists every module that raises
        said = "\n".join(path.read_text(encoding="utf-8") for path in guides if path.exists()) + self.pyproject
        imported = set().union(*(targets - {name} for name, targets in self.edges.items()))
        imported |= self._listed() | self._found_by_name()
        packages = {module_name(path) for path in self.texts if path.endswith("__init__.py")}
        return sorted(
            name
            for name in self.trees
            if name not in imported | packages
            and not name.endswith("__main__")
            and not _hands_out(self.trees[name])
            and not re.search(rf"\b{re.escape(name)}\b", said)
            and name.removeprefix(f"{PACKAGE}.").replace(".", "/") + ".py" not in said
        )

    def _listed(self) -> set[str]:
        """Return the modules of public names: those that the stub of a front imports."""
        found: set[str] = set()
        for path in sorted(self.package.rglob("__init__.pyi")):
            front = module_name(path.relative_to(self.package).with_suffix(".py").as_posix())
            found |= imports(ast.parse(path.read_text(encoding="utf-8")), front, is_package=True, modules=self.trees)
        return found

    def _found_by_name(self) -> set[str]:
        """Return the modules of a folder that `import_module` goes through, if their own name is quoted beside it."""
        found: set[str] = set()
        for text in self.texts.values():
            for folder in re.findall(r'import_module\(f"([\w.]+)\.\{', text):
                quoted = set(re.findall(r'"(\w+)"', text))
                found.update(name for name in self.trees if name.rpartition(".")[::2] in {(folder, q) for q in quoted})
        return found

    @cached_property
    def pyproject(self) -> str:
        """The text of `pyproject.toml`."""
        return (self.checkout / "pyproject.toml").read_text(encoding="utf-8")

    def contract_lines(self) -> int:
        """Return the lines of all import contracts, without blanks and comments."""
        parts = re.split(r"^(?=\[)", self.pyproject, flags=re.MULTILINE)
        contracts = [part for part in parts if part.startswith("[[tool.importlinter.contracts]]")]
        return sum(
            bool(line.strip()) and not line.lstrip().startswith("#") for part in contracts for line in part.splitlines()
        )


def _hands_out(tree: ast.Module) -> bool:
    """Whether a module defines `__getattr__` alone."""
    defined = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    return [node.name for node in defined] == ["__getattr__"]


def module_name(path: str) -> str:
    """Return the dotted name of a file inside the package."""
    inside = path.removesuffix(".py").removesuffix("__init__").strip("/")
    return ".".join([PACKAGE, *inside.split("/")] if inside else [PACKAGE])


def _within(path: str, places: tuple[str, ...]) -> bool:
    return any(
        path == place or (place.endswith("/") and f"/{path}".find(f"/{place}") >= 0) or not place for place in places
    )
