"""Which way the imports point (design section 1). A new arrow that goes up fails here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# From the ground up: each may import those before it.
FLOORS = ("outbound", "llm", "projects", "jobs", "tools", "todos", "conversations", "config")
APPS = FLOORS[2:-1]
PLAIN = FLOORS[:2]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BY_NAME = ("import_module", "import_string", "__import__")

# The imports inside functions that are not there to break a cycle, with the reason.
LATE = {
    ("projects/apps.py", "projects.registration"): "an app's models can be imported when all apps are ready",
    ("tools/apps.py", "tools.registration"): "an app's models can be imported when all apps are ready",
    ("todos/apps.py", "todos.registration"): "an app's models can be imported when all apps are ready",
    ("conversations/apps.py", "conversations.flows.lanes"): "an app's models can be imported when all apps are ready",
    ("conversations/apps.py", "conversations.registration"): "an app's models can be imported when all apps are ready",
    ("llm/client.py", "llm.sdk"): "the SDK is heavy: only a process that calls a model loads it",
    ("llm/client.py", "llm.call"): "it brings the SDK with it",
}


@dataclass(frozen=True)
class Import:
    """One import statement of ours: the file, relative to the root, and the module's full name."""

    file: str
    module: str
    is_late: bool

    @property
    def floor(self) -> str:
        return self.file.split("/")[0]

    @property
    def target(self) -> str:
        return self.module.split(".")[0]

    def __str__(self) -> str:
        return f"{self.file} imports {self.module}"


def sources() -> Iterator[Path]:
    """Every module of the product, without tests and without what Django writes."""
    for floor in FLOORS:
        yield from (path for path in (ROOT / floor).rglob("*.py") if "migrations" not in path.parts)


@cache
def imports() -> list[Import]:
    return [found for path in sources() for found in imports_of(path)]


def imports_of(path: Path) -> Iterator[Import]:
    file = path.relative_to(ROOT)
    tree = ast.parse(path.read_text(), filename=str(file))
    late = {id(inner) for node in ast.walk(tree) if isinstance(node, FUNCTIONS) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        for module in names_of(node, package=file.parent.parts):
            yield Import(str(file), module, is_late=id(node) in late)


def names_of(node: ast.AST, *, package: tuple[str, ...]) -> list[str]:
    """The modules that a node imports; `import_module("…")` counts too."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
        module = ".".join(part for part in (base, node.module) if part)
        return [module] if module.count(".") else [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in BY_NAME:
        return [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return []


def test_every_floor_is_read() -> None:
    """A floor that was renamed would pass unseen."""
    assert {found.floor for found in imports()} >= set(FLOORS) - {"todos"}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - {"tests", "bench"} <= set(FLOORS)


def test_no_import_points_up() -> None:
    """conversations → todos → tools → jobs → projects → llm → outbound"""
    height = {floor: at for at, floor in enumerate(FLOORS)}
    upward = [
        str(found) for found in imports() if found.target in height and height[found.target] > height[found.floor]
    ]
    assert upward == []


def test_nobody_but_config_imports_config() -> None:
    assert [str(found) for found in imports() if found.target == "config" and found.floor != "config"] == []


@pytest.mark.parametrize("floor", PLAIN)
def test_plain_packages_know_no_models(floor: str) -> None:
    """`llm` may fill in Django's templates, and nothing else of Django's; `outbound` nothing at all."""
    allowed = ("django.template", "django.utils") if floor == "llm" else ()
    frameworks = ("django", "rest_framework", "celery", "kombu")
    own = [found for found in imports() if found.floor == floor and found.target in frameworks]
    assert [str(found) for found in own if not found.module.startswith(allowed or ("nothing",))] == []


def test_openai_is_imported_in_llm_only() -> None:
    assert {found.floor for found in imports() if found.target == "openai"} == {"llm"}


def test_http_leaves_through_outbound_and_llm_only() -> None:
    """One guarded door. `llm` speaks to the operator's own model server, and asks the door about any other."""
    clients = {"aiohttp", "httpx", "requests", "urllib3", "httpcore"}
    assert {found.floor for found in imports() if found.target in clients} <= {"outbound", "llm"}


def test_no_import_hides_in_a_function() -> None:
    """An import inside a function breaks a cycle that should not be there."""
    hidden = [found for found in imports() if found.is_late and found.target in FLOORS]
    unexplained = [str(found) for found in hidden if (found.file, found.module) not in LATE]
    assert unexplained == []


def test_what_is_allowed_to_be_late_still_is() -> None:
    assert set(LATE) <= {(found.file, found.module) for found in imports() if found.is_late}


def test_models_import_no_service() -> None:
    """A model that calls a service can't be read on its own."""
    models = [found for found in imports() if found.file.endswith("/models.py") or "/models/" in found.file]
    words = {"services", "flows", "views", "api", "admin", "tasks"}
    assert [str(found) for found in models if found.target in APPS and words & set(found.module.split(".")[1:2])] == []


def test_the_product_imports_nothing_of_its_tests() -> None:
    assert [str(found) for found in imports() if found.target in ("tests", "bench", "pytest")] == []
