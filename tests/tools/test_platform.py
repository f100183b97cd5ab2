"""The platform's stored definitions: precedence, cache, validation, seeding and editor."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tenancy.scope import platform_scope
from tests.tenancy.conftest import browser, make_platform_user
from tests.tools.conftest import Tools
from tools.engine.business_state import read_state
from tools.engine.catalogue import NOT_STORED, code_definition
from tools.engine.definition import Trigger
from tools.engine.function_calling.offer import offer_at
from tools.engine.platform import StoredDefinition, interpolate, invalidate_definitions, stored, stored_definitions
from tools.engine.platform.seeds import code_seeds
from tools.engine.platform.validation import called_tools, definition_problems
from tools.engine.registry import builtin_tools
from tools.models import PlatformDefinition

CHANGELIST = "admin:tools_platformdefinition_changelist"
CHANGE = "admin:tools_platformdefinition_change"
WORDS = {"description": "Ends it.", "category": "", "section": "### The End\n- Say goodbye.", "parameters": None}


def store(name: str = "end_call", **words: Any) -> PlatformDefinition:
    with platform_scope():
        return PlatformDefinition.objects.update_or_create(name=name, defaults={**WORDS, **words})[0]


def row(name: str) -> PlatformDefinition:
    with platform_scope():
        return PlatformDefinition.objects.get(name=name)


def offered(tools: Tools) -> dict[str, str]:
    """The tools offered to the phone's model, with their descriptions."""
    with tools.tenant.tx():
        state = read_state(tools.tenant.project, channel="phone")
        offer = offer_at(Trigger.TURN, state, stored_definitions())
    return {one.name: one.description for one in offer.definitions}


def seed(**options: Any) -> str:
    said = StringIO()
    call_command("seed_tools", stdout=said, **options)
    return said.getvalue()


@pytest.fixture(autouse=True)
def nothing_stored(request: pytest.FixtureRequest) -> Iterator[None]:
    invalidate_definitions()
    yield
    if "tools" in request.fixturenames or "platform" in request.fixturenames:
        with platform_scope():
            PlatformDefinition.objects.all().delete()
    invalidate_definitions()


@pytest.fixture
def platform(tools: Tools) -> Client:
    return browser(make_platform_user())


# Where the definitions come from


@pytest.mark.requirement("F01")
def test_stored_definitions_replace_the_codes(tools: Tools) -> None:
    """With one stored, only that tool is offered."""
    assert len(offered(tools)) > 1
    store(description="Hangs up.")
    assert offered(tools) == {"end_call": "Hangs up."}
    assert tools.compiled("phone")["send_sms"].why_not != ""


def test_a_tool_without_a_stored_definition_gives_the_reason(tools: Tools) -> None:
    store("send_sms")
    assert tools.compiled("phone")["end_call"].why_not == NOT_STORED


@pytest.mark.requirement("N15")
def test_custom_tools_are_merged_on_top(tools: Tools) -> None:
    """Stored definitions don't affect them, nor tools that commitments fire."""
    store()
    compiled = tools.compiled("chat")
    assert compiled["end_conversation_tool"].is_offered
    assert compiled["end_conversation_tool"].definition == builtin_tools()["end_conversation_tool"].definition


@pytest.mark.requirement("F02")
def test_placeholders_are_filled_in_per_tenant(tools: Tools) -> None:
    """In the description and the section."""
    store(description="Ends the call of {{ business }} on {{channel}}.", section="### {{agent}}\n- Say goodbye.")
    assert offered(tools) == {"end_call": "Ends the call of Trattoria Da Nello on phone."}
    assert tools.compiled("phone")["end_call"].section.startswith("### Nello\n")


@pytest.mark.requirement("F02")
def test_a_filled_in_value_is_not_interpolated_again() -> None:
    names = {"business": "{{agent}} {% now 'Y' %}", "agent": "Ada"}
    assert interpolate("{{business}} by {{agent}}, {{unknown}}", names) == "{{agent}} {% now 'Y' %} by Ada, {{unknown}}"


# What a process keeps


@pytest.mark.requirement("F05")
def test_definitions_are_cached_for_a_minute(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without reading a project, a process is at most 60 s behind."""
    store(description="Before")
    with tools.tenant.tx():
        stored_definitions()
        store(description="After")
        assert stored_definitions() == {"end_call": StoredDefinition("Before", "", WORDS["section"], None)}
        monkeypatch.setattr(stored.time, "monotonic", lambda: stored._cache.read_at + stored.CACHE_SECONDS)
        assert stored_definitions() == {"end_call": StoredDefinition("After", "", WORDS["section"], None)}
    assert stored.CACHE_SECONDS == 60


@pytest.mark.requirement("F04", "F05")
@pytest.mark.parametrize("change", ["edit", "add", "remove"])
def test_a_change_takes_effect_on_the_next_turn(tools: Tools, change: str) -> None:
    """Also in a process that has cached the definitions."""
    store(description="Before")
    store("send_sms", description="Texts.")
    assert offered(tools)["end_call"] == "Before"
    with platform_scope():
        if change == "edit":
            PlatformDefinition.objects.filter(name="end_call").update(description="After", updated_at=timezone.now())
        elif change == "add":
            PlatformDefinition.objects.create(name="search_knowledge", **WORDS)
        else:
            PlatformDefinition.objects.filter(name="end_call").delete()
    found = offered(tools).get("end_call")
    assert found == {"edit": "After", "add": "Before", "remove": None}[change]
    with tools.tenant.tx():
        assert len(stored_definitions() or {}) == {"edit": 2, "add": 3, "remove": 1}[change]


@pytest.mark.requirement("F05")
def test_detecting_a_change_takes_no_query(tools: Tools) -> None:
    """It is part of reading the project's state."""
    store()
    offered(tools)
    with tools.tenant.tx(), CaptureQueriesContext(connection) as queries:
        read_state(tools.tenant.project, channel="phone")
        stored_definitions()
    assert len(queries) == 1


def test_tenants_can_read_but_not_write_definitions(tools: Tools) -> None:
    store()
    with pytest.raises(DatabaseError, match="permission denied"), tools.tenant.tx():
        PlatformDefinition.objects.update(description="Mine")


# What may be saved

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"description": " "}, "description can't be empty."),
    ({"description": "x" * 1001}, "description has 1,001 characters; the limit is 1,000."),
    ({"description": "For {{shop}}."}, "{{shop}} isn't a known placeholder; use one of {{business}}"),
    ({"description": "For {{ business"}, "In description, {{ isn't a known placeholder"),
    ({"category": "calender"}, "There is no category “calender”; use one of"),
    ({"section": "Say goodbye."}, "A section must begin with a heading: ###"),
    ({"section": "## Tools"}, "A section must begin with a heading: ###"),
    ({"section": "### One\n## Two"}, "A section has one heading, its first line; “## Two” is another."),
    ({"parameters": []}, "parameters must be a JSON Schema, an object, not a list."),
    ({"parameters": {"type": "objct"}}, "Invalid JSON Schema at parameters.type: 'objct'"),
    ({"parameters": {"type": "string"}}, 'parameters must be of "type": "object"'),
    ({"parameters": {"type": "object", "properties": {}}}, "send_sms requires “text”"),
    (
        {"parameters": {"type": "object", "properties": {"text": {"type": "string"}, "to": {"type": "string"}}}},
        "send_sms takes text; “to” is unknown.",
    ),
    (
        {"parameters": {"type": "object", "properties": {"text": {"type": "string", "pattern": "(a+)+$"}}}},
        "“pattern” isn't allowed here",
    ),
    (
        {"parameters": {"type": "object", "properties": {"text": {"$ref": "https://example.com/x"}}}},
        "“$ref” isn't allowed here",
    ),
]


@pytest.mark.requirement("F02", "F04")
@pytest.mark.parametrize(("words", "sentence"), REFUSED)
def test_an_invalid_definition_is_refused(words: dict[str, Any], sentence: str) -> None:
    found = definition_problems("send_sms", StoredDefinition(**{**WORDS, **words}))
    assert any(sentence in problem.message for problem in found), found


@pytest.mark.requirement("F04")
def test_only_tools_that_models_call_have_definitions() -> None:
    for name in ("nothing_like_it", "send_sms_tool"):
        [problem] = definition_problems(name, StoredDefinition(**WORDS))
        assert problem.path == "name"
        assert name in problem.message


@pytest.mark.requirement("F03")
@pytest.mark.parametrize("name", sorted(called_tools()))
def test_the_codes_definitions_are_valid(name: str) -> None:
    assert definition_problems(name, code_definition(builtin_tools()[name])) == []


# Seeding


@pytest.mark.requirement("F03")
def test_seeding_is_idempotent(tools: Tools) -> None:
    assert "end_call: added." in seed()
    before = row("end_call")
    assert set(re.findall(r": (.*)\.", seed())) == {"unchanged"}
    assert row("end_call").updated_at == before.updated_at
    assert row("end_call").parameters == code_definition(builtin_tools()["end_call"]).parameters


@pytest.mark.requirement("F03")
def test_seeding_keeps_an_edited_definition(tools: Tools) -> None:
    """With --overwrite it is replaced, and the changes are listed."""
    seed()
    store(description="Ours")
    assert "end_call: kept, because it was edited." in seed()
    assert row("end_call").description == "Ours"
    assert "description: “Ours” is now “Ends the running call." in seed(overwrite=True)
    assert row("end_call").description == code_definition(builtin_tools()["end_call"]).description
    assert "end_call: unchanged." in seed()


@pytest.mark.requirement("F03")
def test_an_unedited_definition_follows_its_seed(tools: Tools, tmp_path: Path) -> None:
    """A release may change a tool's wording."""
    seed()
    (tmp_path / "end_call.json").write_text(json.dumps({"description": "Hangs up at last.", "category": "phone"}))
    assert "end_call: updated." in seed(folder=tmp_path)
    assert offered(tools)["end_call"] == "Hangs up at last."


@pytest.mark.requirement("F03")
def test_written_seed_files_equal_the_codes_definitions(tools: Tools, tmp_path: Path) -> None:
    seed(write=tmp_path)
    assert {path.stem for path in tmp_path.iterdir()} == set(code_seeds())
    assert not stored_definitions()
    assert "end_call: added." in seed(folder=tmp_path)
    assert "end_call: unchanged." in seed()


@pytest.mark.requirement("F03")
def test_an_invalid_seed_file_stores_nothing(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "end_call.json").write_text(json.dumps({"description": "Fine."}))
    (tmp_path / "send_sms.json").write_text(json.dumps({"description": ""}))
    with pytest.raises(CommandError, match=r"Nothing was stored\. send_sms\.json: description can't be empty"):
        seed(folder=tmp_path)
    with platform_scope():
        assert not PlatformDefinition.objects.exists()


# The editor


@pytest.mark.requirement("F04")
def test_an_edit_takes_effect_on_the_next_turn(platform: Client, tools: Tools) -> None:
    seed()
    form = {"description": "Hangs up politely.", "category": "phone", "section": "", "parameters": "null"}
    assert platform.post(reverse(CHANGE, args=["end_call"]), form).status_code == 302
    assert offered(tools)["end_call"] == "Hangs up politely."
    assert tools.compiled("phone")["end_call"].section == builtin_tools()["end_call"].section


@pytest.mark.requirement("F04")
def test_the_editor_shows_a_problem_at_its_field(platform: Client) -> None:
    seed()
    form = {"description": "For {{shop}}.", "category": "", "section": "x", "parameters": "{"}
    page = platform.post(reverse(CHANGE, args=["end_call"]), form).content.decode()
    assert "Enter a valid JSON." in page
    page = platform.post(reverse(CHANGE, args=["end_call"]), {**form, "parameters": ""}).content.decode()
    assert "a known placeholder" in page
    assert "A section must begin with a heading" in page
    assert row("end_call").description != "For {{shop}}."


@pytest.mark.requirement("F02", "F04")
def test_the_editor_previews_the_definition_for_a_project(platform: Client, tools: Tools) -> None:
    """Nothing is saved."""
    seed()
    words = {"tool_name": "end_call", "description": "Ends the call of {{business}}.", "parameters": "", "section": ""}
    form = {**words, "category": "", "project": str(tools.tenant.project.pk), "channel": "phone"}
    page = platform.post(reverse("admin:tools_platformdefinition_preview"), form).content.decode()
    assert "Ends the call of Trattoria Da Nello." in page
    assert "### Ending the Call" in page
    assert "{{business}}" not in row("end_call").description
    refused = platform.post(reverse("admin:tools_platformdefinition_preview"), {**form, "description": "{{x}}"})
    assert "a known placeholder" in refused.content.decode()


@pytest.mark.requirement("F05")
def test_a_flush_reaches_every_process(platform: Client, tools: Tools) -> None:
    """Also for rows written by other means."""
    store(description="Before")
    offered(tools)
    with platform_scope():
        PlatformDefinition.objects.filter(name="end_call").update(description="After")
    assert offered(tools)["end_call"] == "Before"
    kept = stored._cache.read_at
    platform.post(reverse(CHANGELIST), {"action": "flush", "_selected_action": ["end_call"]})
    # As another process would be: it has kept what it read.
    stored._cache.read_at = kept
    assert offered(tools)["end_call"] == "After"


@pytest.mark.requirement("F04")
def test_only_platform_staff_edit_definitions(tools: Tools) -> None:
    store()
    owner = browser(tools.tenant.owner)
    assert owner.get(reverse(CHANGELIST)).status_code == 403
    assert owner.post(reverse(CHANGE, args=["end_call"]), {"description": "Mine"}).status_code == 403
    assert owner.post(reverse("admin:tools_platformdefinition_preview"), {}).status_code == 403
    assert row("end_call").description == "Ends it."
