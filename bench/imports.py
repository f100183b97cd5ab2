"""The product's modules and their imports, read from the sources without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Packages beside the product, and the folder in which Django keeps what it writes itself.
BESIDE = ("bench", "tests")
WRITTEN = "migrations"


def packages() -> list[str]:
    """The product's top-level packages."""
    return sorted(path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name not in BESIDE)


def rooms() -> list[str]:
    """The top-level packages and their direct sub-packages as `package/sub-package`, sorted."""
    inner = (path.parent for package in packages() for path in ROOT.glob(f"{package}/*/__init__.py"))
    return sorted([*packages(), *(f"{path.parent.name}/{path.name}" for path in inner if path.name != WRITTEN)])


@cache
def modules() -> Mapping[str, Path]:
    """The full name and file of each module. A package is its `__init__`; migrations are left out."""
    files = (path for package in packages() for path in (ROOT / package).rglob("*.py") if WRITTEN not in path.parts)
    return {_name_of(path): path for path in files}


@cache
def imported_by_module() -> Mapping[str, set[str]]:
    """Each module with the product modules it imports, anywhere in the file. Read once: it takes five seconds."""
    known = modules()
    return {name: set(_imports_of(path, known)) - {name} for name, path in known.items()}


def _name_of(path: Path) -> str:
    relative = path.relative_to(ROOT).with_suffix("")
    return ".".join(relative.parent.parts if relative.name == "__init__" else relative.parts)


def _imports_of(path: Path, known: Mapping[str, Path]) -> Iterator[str]:
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text(), filename=str(path))):
        yield from (name for name in _names_in(node, package=package, known=known) if name in known)


def _names_in(node: ast.AST, *, package: tuple[str, ...], known: Mapping[str, Path]) -> list[str]:
    """The names that a node may import. `from package import name` counts as the module of that name, if there is one.

    A string that is a module's dotted name counts as an import: of URLs, of a handler, or of a module imported later.
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else ()
        base = ".".join([*above, *([node.module] if node.module else [])])
        inner = [f"{base}.{alias.name}" for alias in node.names]
        return [name if name in known else base for name in inner]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
        return [node.value]
    return []
