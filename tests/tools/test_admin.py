"""Custom tools in the Django admin."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.agents.services import save_agent
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.tenancy.conftest import browser, make_platform_user
from tests.tools.conftest import Tools
from tests.tools.examples import NAME, event, webhook
from tools.engine.custom import service
from tools.models import CustomTool, CustomToolVersion

LIST = reverse("admin:tools_customtool_changelist")
ADD = reverse("admin:tools_customtool_add")


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    return browser(tenant.owner)


def page_of(tools: Tools, name: str = NAME) -> str:
    return reverse("admin:tools_customtool_change", args=[tools.row(name).pk])


def form(document: Any, **fields: Any) -> dict[str, Any]:
    text = document if isinstance(document, str) else json.dumps(document)
    return {"text": text, "is_enabled": "on", **fields}


def text_of(response: Any) -> str:
    return response.content.decode().replace("&quot;", '"').replace("&#x27;", "'")


def test_adding_a_tool_shows_its_secret_once(owner: Client, tools: Tools, tenant: Tenant) -> None:
    response = owner.post(ADD, form(webhook(), name=NAME, project=str(tenant.project.pk)), follow=True)
    assert f"Signing secret of {NAME}, shown only once: whsec_" in text_of(response)
    assert tools.compiled()[NAME].is_offered
    with tenant.tx():
        assert CustomToolVersion.objects.get().author_id is not None


def test_times_are_those_of_the_business(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        version = tenant.project.agent_version
        assert version
        config = version.config.model_copy(update={"timezone": "Asia/Kolkata"})
        save_agent(tenant.project, config=config, author=tenant.owner)
        service.save(tenant.project, name=NAME, document=event())
        CustomTool.objects.update(updated_at=datetime(2026, 11, 28, 20, 4, tzinfo=UTC))
    assert "Nov. 29, 2026, 1:34 a.m." in owner.get(LIST).content.decode()


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (event(conditions={}), "A tool needs at least one condition."),
        ('{"useConversationHistory": True}', "line 1, column 28: Expecting value. JSON uses lowercase true and false"),
        ('{"description": "a", "description": "b"}', "Key 'description' appears twice."),
    ],
)
def test_an_invalid_definition_is_not_saved_and_the_input_is_kept(
    owner: Client, tools: Tools, tenant: Tenant, document: Any, words: str
) -> None:
    response = owner.post(ADD, form(document, name=NAME, project=str(tenant.project.pk)))
    assert words in text_of(response)
    with tenant.tx():
        assert not CustomTool.objects.exists()


def test_a_look_alike_name_is_refused(owner: Client, tools: Tools, tenant: Tenant) -> None:
    response = owner.post(ADD, form(event(), name="Send_SMS_tool", project=str(tenant.project.pk)))
    assert "looks like send_sms_tool" in text_of(response)


def test_a_change_makes_a_version(owner: Client, tools: Tools) -> None:
    tools.save(NAME, event())
    owner.post(page_of(tools), form(event(description="New"), expected_version="1"))
    assert (tools.row(NAME).version, tools.row(NAME).definition["description"]) == (2, "New")


def test_a_save_validates_the_definition_once(owner: Client, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    tools.save(NAME, event())
    checked: list[Any] = []
    check = service.definition_problems
    monkeypatch.setattr(service, "definition_problems", lambda document: checked.append(document) or check(document))
    owner.post(page_of(tools), form(event(description="New"), expected_version="1"))
    assert tools.row(NAME).definition["description"] == "New"
    assert checked == [event(description="New")]


def test_a_change_over_someone_elses_version_is_refused(owner: Client, tools: Tools) -> None:
    tools.save(NAME, event())
    tools.save(NAME, event(description="Theirs"))
    response = owner.post(page_of(tools), form(event(description="Ours"), expected_version="1"))
    assert "was saved as version 2 in the meantime" in text_of(response)
    assert tools.row(NAME).definition["description"] == "Theirs"


def test_deleting_removes_the_tool_and_keeps_its_versions(owner: Client, tools: Tools, tenant: Tenant) -> None:
    tools.save(NAME, event())
    owner.post(page_of(tools).replace("/change/", "/delete/"), {"post": "yes"})
    assert tools.row(NAME).is_removed
    assert NAME not in tools.compiled()
    assert str(tools.row(NAME).pk) not in owner.get(LIST).content.decode()
    with tenant.tx():
        assert CustomToolVersion.objects.count() == 2


def test_tools_are_switched_on_and_off_from_the_list(owner: Client, tools: Tools) -> None:
    tools.save(NAME, event())
    owner.post(LIST, {"action": "disable", "_selected_action": [str(tools.row(NAME).pk)]})
    assert not tools.row(NAME).is_enabled
    owner.post(LIST, {"action": "enable", "_selected_action": [str(tools.row(NAME).pk)]})
    assert tools.row(NAME).is_enabled


def test_a_new_signing_secret_is_shown_once(owner: Client, tools: Tools) -> None:
    tools.save(NAME, webhook())
    act = {"action": "new_signing_secret", "_selected_action": [str(tools.row(NAME).pk)]}
    assert f"New signing secret of {NAME}, shown only once: whsec_" in text_of(owner.post(LIST, act, follow=True))


def test_an_earlier_version_is_restored(owner: Client, tools: Tools, tenant: Tenant) -> None:
    tools.save(NAME, event())
    tools.do(service.remove, NAME)
    with tenant.tx():
        version = CustomToolVersion.objects.get(number=1)
    address = reverse("admin:tools_customtoolversion_changelist")
    owner.post(address, {"action": "restore", "_selected_action": [str(version.pk)]})
    assert tools.compiled()[NAME].version == 3


def test_platform_staff_change_a_tool_in_its_organization(tools: Tools) -> None:
    tools.save(NAME, event())
    browser(make_platform_user()).post(page_of(tools), form(event(description="New"), expected_version="1"))
    assert tools.row(NAME).definition["description"] == "New"


def test_a_concurrent_change_by_the_tenant_is_kept_as_a_version(tools: Tools) -> None:
    """Platform staff validate and save in two transactions; a change between them isn't lost."""
    tools.save(NAME, event())
    platform = browser(make_platform_user())
    with meanwhile("FOR NO KEY UPDATE", lambda: tools.save(NAME, event(description="Theirs"))) as theirs:
        answer = platform.post(page_of(tools), form(event(description="Ours"), expected_version="1"))
    assert answer.status_code == 302
    theirs[0].result()
    assert tools.row(NAME).version == 3
