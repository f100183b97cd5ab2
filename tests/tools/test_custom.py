"""Custom tools: every save is a version, and concurrent edits aren't lost."""

from __future__ import annotations

import pytest
from django.http import Http404

from projects.models import Member
from tests.conftest import Tenant
from tests.tools.conftest import Tools
from tests.tools.examples import NAME, event, registration, webhook
from tools.engine.custom import service
from tools.engine.custom.service import NameTaken, StaleVersion
from tools.engine.validation.problem import DefinitionRefused
from tools.models import CustomToolVersion


def numbers_of(tools: Tools, name: str = NAME) -> list[int]:
    with tools.tenant.tx():
        return [version.number for version in service.versions(tools.tenant.project, name)]


def test_a_save_makes_a_version(tools: Tools) -> None:
    saved = tools.save(NAME, webhook())
    assert (saved.is_new, saved.tool.version) == (True, 1)
    assert tools.save(NAME, event()).tool.version == 2
    assert numbers_of(tools) == [2, 1]


def test_saving_the_same_again_makes_no_version(tools: Tools) -> None:
    tools.save(NAME, webhook())
    assert tools.save(NAME, webhook()).tool.version == 1
    assert numbers_of(tools) == [1]


def test_a_version_records_its_author(tools: Tools) -> None:
    with tools.tenant.tx():
        member = Member.objects.get(user=tools.tenant.owner)
    tools.save(NAME, event(), author=member)
    with tools.tenant.tx():
        assert CustomToolVersion.objects.get().author_id == member.pk


def test_an_invalid_definition_is_not_saved(tools: Tools) -> None:
    with pytest.raises(DefinitionRefused):
        tools.save(NAME, event(conditions={}))
    assert numbers_of(tools) == []


# Two editors


def test_the_second_of_two_editors_sees_the_differences(tools: Tools) -> None:
    tools.save(NAME, event())
    tools.save(NAME, event(description="What the first one wrote"), expected_version=1)
    with pytest.raises(StaleVersion) as stale:
        tools.save(NAME, event(description="What the second one wrote"), expected_version=1)
    assert stale.value.latest.version == 2
    [change] = stale.value.changes
    assert (change.before, change.after) == ("What the first one wrote", "What the second one wrote")
    assert "was saved as version 2 in the meantime. It differs from yours in: Description." in stale.value.message
    assert numbers_of(tools) == [2, 1]


def test_a_new_tool_does_not_overwrite_an_existing_one(tools: Tools) -> None:
    tools.save(NAME, event())
    with pytest.raises(StaleVersion):
        tools.save(NAME, webhook(), expected_version=0)


def test_a_concurrently_removed_tool_is_not_overwritten(tools: Tools) -> None:
    tools.save(NAME, event())
    tools.do(service.remove, NAME)
    with pytest.raises(StaleVersion, match="was removed in the meantime"):
        tools.save(NAME, webhook(), expected_version=1)


# On, off, away and back


def test_switching_makes_a_version(tools: Tools) -> None:
    tools.save(NAME, event())
    assert tools.do(service.disable, NAME).version == 2
    assert tools.do(service.disable, NAME).version == 2
    assert tools.do(service.enable, NAME).is_enabled


def test_a_removed_tool_is_gone_and_its_versions_stay(tools: Tools) -> None:
    tools.save(NAME, webhook())
    tools.do(service.remove, NAME)
    with pytest.raises(Http404):
        tools.do(service.get, NAME)
    assert numbers_of(tools) == [2, 1]
    assert tools.row(NAME).secrets == ""


def test_an_earlier_version_is_restored_as_a_new_one(tools: Tools) -> None:
    tools.save(NAME, webhook())
    tools.save(NAME, event())
    tools.do(service.remove, NAME)
    restored = tools.do(service.restore, NAME, 1)
    assert restored.tool.version == 4
    assert restored.tool.definition == webhook()


def test_a_recreated_tool_is_on_and_a_restored_one_as_it_was(tools: Tools) -> None:
    """A tool of that name was switched off and removed before."""
    tools.save(NAME, event())
    tools.do(service.disable, NAME)
    tools.do(service.remove, NAME)
    assert tools.save(NAME, webhook()).tool.is_enabled
    tools.do(service.remove, NAME)
    assert not tools.do(service.restore, NAME, 2).tool.is_enabled


@pytest.mark.parametrize("number", [2, 99])
def test_an_unknown_version_is_not_restored(tools: Tools, number: int) -> None:
    tools.save(NAME, event())
    with pytest.raises(Http404):
        tools.do(service.restore, NAME, number)


def test_a_version_that_is_invalid_today_is_not_restored(tools: Tools) -> None:
    saved = tools.save(NAME, event())
    with tools.tenant.tx():
        CustomToolVersion.objects.create(tool=saved.tool, number=7, definition={"old": "form"})
    with pytest.raises(DefinitionRefused):
        tools.do(service.restore, NAME, 7)


# Several at once


@pytest.mark.requirement("N50")
def test_a_registration_is_all_or_nothing(tools: Tools) -> None:
    """Problem paths start at the registration."""
    document = {"good_tool": event(), "bad_tool": event(conditions={"a": {"type": "string", "description": "x"}})}
    with pytest.raises(DefinitionRefused) as refused:
        tools.do(service.add_each, document)
    assert refused.value.field == "tools.bad_tool.conditions.a.type"
    assert refused.value.message == 'tools.bad_tool.conditions.a.type must be "boolean", not "string".'
    with tools.tenant.tx():
        assert list(service.list_tools(tools.tenant.project)) == []


@pytest.mark.requirement("N50")
def test_the_specified_registration_is_saved(tools: Tools) -> None:
    tools.do(service.add_each, registration()["tools"])
    assert tools.row(NAME).definition == webhook()


def test_a_new_tool_cannot_take_an_existing_name(tools: Tools) -> None:
    tools.save(NAME, event())
    with pytest.raises(NameTaken):
        tools.do(service.add_each, {NAME: webhook()})


def test_look_alike_names_are_refused(tools: Tools) -> None:
    tools.save("quote_tool", event())
    with pytest.raises(DefinitionRefused, match="looks like quote_tool"):
        tools.save("Quote_tool", event())


def test_a_project_has_at_most_50_tools(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_TOOLS", 1)
    tools.save("one_tool", event())
    assert tools.save("one_tool", webhook()).tool.version == 2
    with pytest.raises(DefinitionRefused, match="The project has 1 tools of its own; the limit is 1"):
        tools.save("other_tool", event())


def test_another_projects_tools_are_not_found(tools: Tools, stranger: Tenant) -> None:
    tools.save(NAME, event())
    assert not Tools(stranger).compiled().keys() & {NAME}
    with pytest.raises(Http404):
        Tools(stranger).do(service.get, NAME)
