"""The direction of imports. A new import of a module from a higher floor fails here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# From the ground up: each floor may import those before it.
FLOORS = ("outbound", "llm", "tenancy", "projects", "jobs", "tools", "todos", "conversations", "console", "config")
# Imports nothing of ours, and nothing imports it.
APART = "offline_model"
APPS = ("projects", "jobs", "tools", "todos", "conversations")
PLAIN = ("outbound", "llm")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BY_NAME = ("import_module", "import_string", "__import__")

# The rooms inside the apps, from the ground up in the same way: folders, and the few modules that stand beside them.
ROOMS = {
    "projects": (
        *(
            "common",
            "models",
            "records",
            "accounts",
            "api",
            "agents",
            "admin",
            "connections",
            "demo",
            "knowledge",
            "widget",
        ),
        *("management", "registration", "apps"),
    ),
    "tools": (
        "models",
        "engine",
        "services",
        "builtin",
        "evaluation",
        "management",
        "admin",
        "api",
        "registration",
        "apps",
    ),
    "todos": (
        *("models", "hooks", "payloads", "content", "approvals", "services", "expiry", "sources", "api", "executor"),
        *("admin", "attention", "registration", "apps", "tasks"),
    ),
    "conversations": (
        *(
            "models",
            "common",
            "live",
            "context",
            "prompts",
            "turns",
            "evaluation",
            "followups",
            "handover",
            "claim_check",
            "tool_runs",
        ),
        *("widget", "promises", "voice", "api", "flows", "portal", "admin", "registration", "apps"),
    ),
}

# Tables that a room below names in its SQL, with the reason.
LOW_SQL = {
    "tenancy/tenant_lookup.py": "look-ups before a tenant is known stand in one module, so that every use of mg_ops can be listed",
}
TABLE = re.compile(r"\b(projects|jobs|tools|todos|conversations)_[a-z]+\b")
SQL = re.compile(r"\b(select|insert into|update|delete from|join|from)\b", re.IGNORECASE)

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
    for floor in (*FLOORS, APART):
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
    assert {found.floor for found in imports()} >= set(FLOORS)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - {"tests", "bench"} == {*FLOORS, APART}


def test_no_import_points_up() -> None:
    height = {floor: at for at, floor in enumerate(FLOORS)}
    ours = [found for found in imports() if found.target in height and found.floor in height]
    assert [str(found) for found in ours if height[found.target] > height[found.floor]] == []


def test_the_offline_model_stands_apart() -> None:
    between = [found for found in imports() if (found.floor == APART) != (found.target == APART)]
    assert [str(found) for found in between if found.target in (*FLOORS, APART)] == []


def height_of(module: str) -> int | None:
    """How high a module stands in its app; None for an app's migrations and for the app itself."""
    app, *rest = module.split(".")
    return ROOMS[app].index(rest[0]) if rest and rest[0] in ROOMS[app] else None


@pytest.mark.parametrize("app", ROOMS)
def test_no_import_points_up_inside_an_app(app: str) -> None:
    upward = []
    for found in imports():
        if found.floor == found.target == app:
            above, below = height_of(module_of(found.file)), height_of(found.module)
            if above is not None and below is not None and below > above:
                upward.append(str(found))
    assert upward == []


@pytest.mark.parametrize("app", ROOMS)
def test_every_module_stands_in_a_room(app: str) -> None:
    """A new folder, or a new module at the root of an app, is a decision: it is entered in the table above."""
    rooms = {path.name for path in (ROOT / app).iterdir() if (path / "__init__.py").exists()} - {"migrations"}
    modules = {path.stem for path in (ROOT / app).glob("*.py")} - {"__init__"}
    assert rooms | modules == set(ROOMS[app])


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def test_no_sql_names_a_table_of_a_room_above() -> None:
    """An import isn't the only way to lean on a room above: its tables are another."""
    height = {floor: at for at, floor in enumerate(FLOORS)}
    upward = []
    for path in sources():
        file = str(path.relative_to(ROOT))
        floor = file.split("/")[0]
        if file in LOW_SQL or floor == APART:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value):
                tables = {found[0] for found in TABLE.finditer(node.value) if height[found[1]] > height[floor]}
                upward += [f"{file}:{node.lineno} names {table}" for table in sorted(tables)]
    assert upward == []


def test_sql_that_is_allowed_to_name_a_higher_table_still_does() -> None:
    assert all(TABLE.search((ROOT / file).read_text()) for file in LOW_SQL)


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
