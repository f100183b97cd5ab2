"""The layers of the code: a room imports only from lower rooms."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.db import models

ROOT = Path(__file__).resolve().parent.parent
# From the bottom up. Each package may import those before it.
FLOORS = (
    "telemetry",
    "outbound",
    "llm",
    "tenancy",
    "projects",
    "jobs",
    "notices",
    "tools",
    "todos",
    "conversations",
    "privacy",
    "console",
    "operations",
    "config",
)
# Imports none of our packages, and is imported by none.
APART = "offline_model"
APPS = ("projects", "jobs", "notices", "tools", "todos", "conversations", "privacy")
PLAIN = ("telemetry", "outbound", "llm")
TEXTS = (models.CharField, models.TextField, models.JSONField, models.BinaryField, ArrayField)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BY_NAME = ("import_module", "import_string", "__import__")

# The rooms of each app, from the bottom up: folders, and modules beside them.
ROOMS = {
    "projects": (
        *(
            "common",
            "models",
            "personal_data",
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
    "notices": (
        *(
            "models",
            "personal_data",
            "preferences",
            "links",
            "digest",
            "emails",
            "slack",
            "push",
            "services",
            "settings",
            "api",
        ),
        *("admin", "registration", "apps"),
    ),
    "tools": (
        "models",
        "personal_data",
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
        *(
            "models",
            "personal_data",
            "hooks",
            "payloads",
            "content",
            "approvals",
            "services",
            "expiry",
            "sources",
            "api",
            "executor",
        ),
        *("admin", "attention", "registration", "apps", "tasks"),
    ),
    "conversations": (
        *(
            "models",
            "personal_data",
            "common",
            "files",
            "live",
            "context",
            "prompts",
            "turns",
            "evaluation",
            "followups",
            "handover",
            "inbox",
            "customers",
            "claim_check",
            "channels",
            "tool_runs",
            "assist",
        ),
        *(
            "promises",
            "voice",
            "calls",
            "widget",
            "analytics",
            "api",
            "flows",
            "portal",
            "admin",
            "management",
            "registration",
            "apps",
        ),
    ),
    "privacy": (
        *(
            "models",
            "personal_data",
            "registry",
            "subjects",
            "erasure",
            "export",
            "retention",
            "organizations",
            "repeat_erasures",
            "payloads",
            "api",
        ),
        *("admin", "registration", "apps", "management"),
    ),
}

# Tables of a higher room that a lower room names in its SQL, with the reason.
LOW_SQL = {
    "tenancy/tenant_lookup.py": "look-ups before a tenant is known stand in one module, so that every use of mg_ops can be listed",
}
PREFIX = re.compile(rf"\b({'|'.join(APPS)})_")
TABLE = re.compile(rf"{PREFIX.pattern}[a-z]+\b")
SQL = re.compile(r"\b(select|insert into|update|delete from|join|from)\b", re.IGNORECASE)

# Imports inside functions that don't break a cycle, with the reason.
LATE = {
    ("jobs/apps.py", "jobs.registration"): "an app's models can be imported when all apps are ready",
    ("projects/apps.py", "projects.registration"): "an app's models can be imported when all apps are ready",
    ("notices/apps.py", "notices.registration"): "an app's models can be imported when all apps are ready",
    ("tools/apps.py", "tools.registration"): "an app's models can be imported when all apps are ready",
    ("todos/apps.py", "todos.registration"): "an app's models can be imported when all apps are ready",
    ("conversations/apps.py", "conversations.flows.lanes"): "an app's models can be imported when all apps are ready",
    ("conversations/apps.py", "conversations.registration"): "an app's models can be imported when all apps are ready",
    ("privacy/apps.py", "privacy.registration"): "an app's models can be imported when all apps are ready",
    ("llm/client.py", "llm.sdk"): "the SDK is heavy: only a process that calls a model loads it",
    ("llm/client.py", "llm.call"): "it brings the SDK with it",
    ("llm/client.py", "llm.transcription"): "it brings the SDK with it",
    ("llm/realtime.py", "llm.realtime_sdk"): "it brings the SDK with it",
}


@dataclass(frozen=True)
class Import:
    """One import of our code: the importing file, relative to the root, and the full name of the module."""

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
    """Every module of the product, except tests and migrations."""
    for floor in (*FLOORS, APART):
        yield from (path for path in (ROOT / floor).rglob("*.py") if "migrations" not in path.parts)


@cache
def imports() -> list[Import]:
    return [found for path in sources() for found in imports_of(path)]


def imports_of(path: Path) -> Iterator[Import]:
    file, text = path.relative_to(ROOT), path.read_text()
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(text, filename=str(file)), False)]
    # Only an import by name is an expression, and expressions are nine tenths of a module.
    has_names = any(name in text for name in BY_NAME)
    while waiting:
        node, is_late = waiting.pop()
        for module in names_of(node, package=file.parent.parts):
            yield Import(str(file), module, is_late=is_late)
        is_late = is_late or isinstance(node, FUNCTIONS)
        children = ast.iter_child_nodes(node)
        waiting += [(child, is_late) for child in children if has_names or not isinstance(child, ast.expr)]


def names_of(node: ast.AST, *, package: tuple[str, ...]) -> list[str]:
    """The modules that a node imports, including `import_module("…")`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
        module = ".".join(part for part in (base, node.module) if part)
        return [module] if module.count(".") else [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in BY_NAME:
        return [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return []


def test_every_package_exists() -> None:
    """A renamed package would otherwise go unchecked."""
    assert {found.floor for found in imports()} >= set(FLOORS)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - {"tests", "bench"} == {*FLOORS, APART}


def test_no_package_imports_a_higher_one() -> None:
    height = {floor: at for at, floor in enumerate(FLOORS)}
    ours = [found for found in imports() if found.target in height and found.floor in height]
    assert [str(found) for found in ours if height[found.target] > height[found.floor]] == []


def test_the_offline_model_is_independent() -> None:
    between = [found for found in imports() if (found.floor == APART) != (found.target == APART)]
    assert [str(found) for found in between if found.target in (*FLOORS, APART)] == []


def height_of(module: str) -> int | None:
    """The position of a module's room in its app, or None for migrations and the app itself."""
    app, *rest = module.split(".")
    return ROOMS[app].index(rest[0]) if rest and rest[0] in ROOMS[app] else None


@pytest.mark.parametrize("app", ROOMS)
def test_no_room_imports_a_higher_one(app: str) -> None:
    upward = []
    for found in imports():
        if found.floor == found.target == app:
            above, below = height_of(module_of(found.file)), height_of(found.module)
            if above is not None and below is not None and below > above:
                upward.append(str(found))
    assert upward == []


@pytest.mark.parametrize("app", ROOMS)
def test_every_module_belongs_to_a_room(app: str) -> None:
    """A new folder, or a new module at the root of an app, must be added to the table above."""
    rooms = {path.name for path in (ROOT / app).iterdir() if (path / "__init__.py").exists()} - {"migrations"}
    modules = {path.stem for path in (ROOT / app).glob("*.py")} - {"__init__"}
    assert rooms | modules == set(ROOMS[app])


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def test_no_sql_uses_a_higher_rooms_table() -> None:
    """SQL on a higher room's table is a dependency too."""
    height = {floor: at for at, floor in enumerate(FLOORS)}
    upward = []
    for path in sources():
        file = str(path.relative_to(ROOT))
        floor = file.split("/")[0]
        if file in LOW_SQL or floor == APART or not PREFIX.search(text := path.read_text()):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value):
                tables = {found[0] for found in TABLE.finditer(node.value) if height[found[1]] > height[floor]}
                upward += [f"{file}:{node.lineno} names {table}" for table in sorted(tables)]
    assert upward == []


def test_the_list_of_sql_exceptions_is_current() -> None:
    assert all(TABLE.search((ROOT / file).read_text()) for file in LOW_SQL)


def test_only_config_imports_config() -> None:
    assert [str(found) for found in imports() if found.target == "config" and found.floor != "config"] == []


@pytest.mark.parametrize("floor", PLAIN)
def test_plain_packages_do_not_use_django(floor: str) -> None:
    """`llm` may use Django's templates, but nothing else of Django. `outbound` may use nothing of it."""
    allowed = ("django.template", "django.utils") if floor == "llm" else ()
    frameworks = ("django", "rest_framework", "celery", "kombu")
    own = [found for found in imports() if found.floor == floor and found.target in frameworks]
    assert [str(found) for found in own if not found.module.startswith(allowed or ("nothing",))] == []


def test_only_llm_imports_openai() -> None:
    assert {found.floor for found in imports() if found.target == "openai"} == {"llm"}


def test_the_sdk_is_loaded_late() -> None:
    """Only a process that calls a model loads it, and those that are forked, once for all."""
    early = [found for found in imports() if not found.is_late]
    at_once = {found.file for found in early if found.target == "openai" or found.module == "llm.sdk"}
    assert at_once == {"config/preload.py", "llm/call.py", "llm/realtime_sdk.py", "llm/sdk.py"}
    assert {found.file for found in early if found.module == "llm.realtime_sdk"} == {"config/preload.py"}


def test_only_outbound_and_llm_send_http_requests() -> None:
    """`llm` calls the operator's model server directly, and any other endpoint through the guard.

    The offline provider of calls, which is apart, serves with aiohttp and sends its own webhooks.
    """
    clients = {"aiohttp", "httpx", "requests", "urllib3", "httpcore"}
    assert {found.floor for found in imports() if found.target in clients} <= {"outbound", "llm", APART}


def test_imports_are_at_the_top_of_a_module() -> None:
    """Such an import usually breaks a cycle that shouldn't exist."""
    hidden = [found for found in imports() if found.is_late and found.target in FLOORS]
    unexplained = [str(found) for found in hidden if (found.file, found.module) not in LATE]
    assert unexplained == []


def test_the_list_of_late_imports_is_current() -> None:
    assert set(LATE) <= {(found.file, found.module) for found in imports() if found.is_late}


def test_models_do_not_import_services() -> None:
    models = [found for found in imports() if found.file.endswith("/models.py") or "/models/" in found.file]
    words = {"services", "flows", "views", "api", "admin", "tasks"}
    assert [str(found) for found in models if found.target in APPS and words & set(found.module.split(".")[1:2])] == []


def test_every_table_declares_its_personal_data() -> None:
    """A new table, or a new column for texts, is declared in `personal_data.py` of its app. Erasure follows that."""
    # Imported here: bench.picture reads the tables of rooms in this module without Django's models.
    from privacy.registry import TABLES

    declared = {contents.model: set(contents.declared) for contents in TABLES}
    missing = [
        f"{model._meta.label}.{field.column}"
        for model in apps.get_models()
        if any(field.name == "organization" for field in model._meta.fields)
        for field in model._meta.concrete_fields
        if isinstance(field, TEXTS) and field.column not in declared.get(model, set())
    ]
    assert missing == []


def test_the_product_does_not_import_tests() -> None:
    assert [str(found) for found in imports() if found.target in ("tests", "bench", "pytest")] == []
