"""Abilities: tools that do the same as one row, with a switch for each trigger and a way back."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from console.tools.ability_list import ABILITIES, OF_TOOL
from projects.agents.drafts import read_draft
from projects.agents.services import save_agent
from projects.models import AgentVersion, Member, Role
from projects.records.attributes import resolve_attributes, set_attribute
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser
from tests.tools.examples import event
from tools.engine.catalogue import compile_tools, is_called_by_model, todo_setting
from tools.engine.custom import service
from tools.engine.definition import Trigger
from tools.engine.registry import builtin_tools

SMS = "project_attributes_setting_sms_send_information_enabled"


def page_of(tenant: Tenant, key: str) -> str:
    return reverse("ability", args=[tenant.project.slug, key])


def turn(client: Client, tenant: Tenant, key: str, trigger: str, value: str) -> Any:
    return client.post(page_of(tenant, key), {"trigger": trigger, "value": value}, follow=True)


def rows(client: Client, tenant: Tenant) -> dict[str, Any]:
    listed = client.get(reverse("tools", args=[tenant.project.slug])).context["abilities"]
    return {one.row.key: one.row for one in listed}


def enabled_tools(tenant: Tenant) -> list[str] | None:
    with tenant.tx():
        return AgentVersion.objects.filter(project=tenant.project).latest("number").config.enabled_tools


def test_every_built_in_tool_belongs_to_an_ability_with_its_triggers() -> None:
    assert set(OF_TOOL) == set(builtin_tools())
    for ability in ABILITIES:
        for name in ability.tools:
            tool = builtin_tools()[name]
            has = (is_called_by_model(tool), Trigger.COMMITMENT in tool.moments, Trigger.TASK in tool.moments)
            assert has == (name in ability.reply, name in ability.promise, name in ability.todo), name


def test_no_tool_belongs_to_two_abilities() -> None:
    names = [name for ability in ABILITIES for name in ability.tools]
    assert len(names) == len(set(names))


def test_near_twins_are_one_row(owner: Client, tenant: Tenant) -> None:
    text = owner.get(reverse("tools", args=[tenant.project.slug])).content.decode()
    assert rows(owner, tenant)["emails"].tools == ["send_email_tool", "send_email", "send_email_to_caller"]
    assert text.count(">Send e-mails<") == 2  # in the list and in the table
    assert ">send_email_tool<" not in text


def test_the_reply_switch_changes_the_agents_list_of_tools(owner: Client, tenant: Tenant) -> None:
    turn(owner, tenant, "bookings", "reply", "off")
    chosen = enabled_tools(tenant)
    assert chosen is not None
    assert not {"book_appointment", "lookup_appointment"} & set(chosen)
    assert "cancel_appointment" in chosen
    assert not rows(owner, tenant)["bookings"].reply.is_on


def test_the_reply_switch_publishes_nothing_of_the_draft(owner: Client, tenant: Tenant) -> None:
    """The draft keeps its own changes, on top of the new list of tools."""
    with tenant.tx():
        version = tenant.project.agent_version
        assert version
        config = version.config.model_copy(update={"agent_name": "Drafted"})
        save_agent(tenant.project, config=config, author=tenant.owner, is_draft=True)
    turn(owner, tenant, "bookings", "reply", "off")
    with tenant.tx():
        state = read_draft(tenant.project)
    assert state.published.config.agent_name != "Drafted"
    assert "book_appointment" not in (state.published.config.enabled_tools or ["book_appointment"])
    assert state.newest.config.agent_name == "Drafted"
    assert state.newest.config.enabled_tools == state.published.config.enabled_tools


def test_a_full_list_is_stored_as_all_tools(owner: Client, tenant: Tenant) -> None:
    turn(owner, tenant, "bookings", "reply", "off")
    turn(owner, tenant, "bookings", "reply", "on")
    assert enabled_tools(tenant) is None


def test_a_switch_that_changes_nothing_makes_no_version(owner: Client, tenant: Tenant) -> None:
    turn(owner, tenant, "bookings", "reply", "on")
    with tenant.tx():
        assert AgentVersion.objects.filter(project=tenant.project).count() == 1


def test_the_promise_switch_is_the_attribute_that_the_api_shows(owner: Client, tenant: Tenant) -> None:
    turn(owner, tenant, "texts", "promise", "off")
    attribute = Client(headers=tenant.headers).get(f"/api/v1/attributes/{SMS}").json()
    assert attribute["value"] is False
    turn(owner, tenant, "texts", "promise", "on")
    assert rows(owner, tenant)["texts"].promise.is_on


def test_the_todo_switch_takes_the_tools_from_todos_only(owner: Client, tenant: Tenant) -> None:
    turn(owner, tenant, "texts", "todo", "off")
    with tenant.tx():
        compiled = {tool.name: tool for tool in compile_tools(tenant.project, channel="chat")}
    assert compiled["send_sms_tool"].is_off_in_todos
    assert compiled["send_sms_tool"].is_offered
    assert not rows(owner, tenant)["texts"].todo.is_on


def test_a_change_is_undone_from_its_notice(owner: Client, tenant: Tenant) -> None:
    text = turn(owner, tenant, "emails", "todo", "off").content.decode()
    token = re.search(r'name="token" value="([^"]+)"', text)
    assert token
    owner.post(reverse("undo", args=[tenant.project.slug]), {"token": token[1]})
    with tenant.tx():
        attributes = resolve_attributes(tenant.project)
    values = {
        attributes[todo_setting(name)].value for name in ("send_email_tool", "send_email", "send_email_to_caller")
    }
    assert values == {True}


def test_an_operator_cannot_undo_a_setting(owner: Client, tenant: Tenant) -> None:
    """Undo checks the permission again, because the role may have changed."""
    admin = member_of(tenant, Role.ADMIN)
    text = turn(browser(admin), tenant, "texts", "todo", "off").content.decode()
    token = re.search(r'name="token" value="([^"]+)"', text)
    assert token
    with tenant.tx():
        Member.objects.filter(user=admin).update(role=Role.OPERATOR)
    assert browser(admin).post(reverse("undo", args=[tenant.project.slug]), {"token": token[1]}).status_code == 404


def test_a_switch_on_the_list_returns_to_the_list(owner: Client, tenant: Tenant) -> None:
    body = {"trigger": "todo", "value": "off", "from_list": "yes"}
    answer = owner.post(f"{page_of(tenant, 'texts')}?channel=sms", body)
    assert answer.headers["Location"] == f"{reverse('tools', args=[tenant.project.slug])}?channel=sms"


@pytest.mark.parametrize(
    ("key", "trigger", "value"),
    [
        ("texts", "never", "on"),
        ("texts", "reply", "maybe"),
        ("tickets", "promise", "on"),
        ("endings", "promise", "off"),
        ("nothing", "reply", "on"),
    ],
)
def test_an_unknown_switch_is_not_found(owner: Client, tenant: Tenant, key: str, trigger: str, value: str) -> None:
    assert turn(owner, tenant, key, trigger, value).status_code == 404


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
def test_only_who_configures_turns_a_switch(tenant: Tenant, role: Role) -> None:
    client = browser(member_of(tenant, role))
    assert turn(client, tenant, "texts", "todo", "off").status_code == 403
    page = client.get(page_of(tenant, "texts")).content.decode()
    assert page.count("disabled") == page.count('role="switch"') > 0


def test_a_switch_that_is_on_but_useless_says_why(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, SMS, False)
    row = rows(owner, tenant)["texts"]
    assert (row.todo.is_on, row.todo.why_not) == (True, "“Send texts” is off")


def test_a_replaced_tool_is_listed_as_custom_only(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        service.save(tenant.project, name="create_meeting_tool", document=event())
    assert "meetings" not in rows(owner, tenant)
    assert owner.get(page_of(tenant, "meetings")).status_code == 404


def test_the_former_address_in_the_settings_leads_to_the_tools(owner: Client, tenant: Tenant) -> None:
    tools = reverse("tools", args=[tenant.project.slug])
    response = owner.get(f"/p/{tenant.project.slug}/agent/abilities")
    assert (response.status_code, response.headers["Location"]) == (302, tools)
