"""The pages of tools that models call: the agent's abilities, versioned as its other settings, and the catalogue."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from projects.models import AgentVersion
from tests.conftest import Tenant
from tests.tenancy.conftest import browser
from tools.engine.catalogue import is_called
from tools.engine.registry import builtin_tools

CALLED = sorted(name for name, tool in builtin_tools().items() if is_called(tool))


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    return browser(tenant.owner)


def page_of(tenant: Tenant, section: str = "abilities") -> str:
    return reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": section})


def version(tenant: Tenant) -> AgentVersion:
    with tenant.tx():
        return AgentVersion.objects.filter(project=tenant.project).latest("number")


def form(tenant: Tenant, **changes: Any) -> dict[str, Any]:
    standing = {"started_from": version(tenant).number, "vertical": "generic", "which_tools": "all"}
    return {**standing, "caller_verification": "none", **changes}


def offered(tenant: Tenant, channel: str = "chat") -> set[str]:
    client = Client(headers=tenant.headers)
    found = client.get(f"/api/v1/tools?channel={channel}").json()["results"]
    return {tool["name"] for tool in found if tool["offered"] and set(tool["moments"]) & {"turn", "live"}}


@pytest.mark.requirement("W01")
def test_a_vertical_brings_its_tools(owner: Client, tenant: Tenant) -> None:
    """Chosen on the page, and offered from the next turn on."""
    assert "open_ticket" not in offered(tenant)
    assert owner.post(page_of(tenant), form(tenant, vertical="help_center")).status_code == 302
    assert "open_ticket" in offered(tenant)


@pytest.mark.requirement("W02")
def test_only_what_is_switched_on_is_offered(owner: Client, tenant: Tenant) -> None:
    owner.post(page_of(tenant), form(tenant, which_tools="chosen", **{"enabled_tools.end_call": "on"}))
    assert version(tenant).config.enabled_tools == ["end_call"]
    assert offered(tenant, "phone") == {"end_call"}
    owner.post(page_of(tenant), form(tenant))
    assert version(tenant).config.enabled_tools is None


@pytest.mark.requirement("F09")
def test_a_rule_brings_its_tool(owner: Client, tenant: Tenant) -> None:
    rule = {"escalation_rules.0.when": "they want it in writing", "escalation_rules.0.action": "message"}
    owner.post(page_of(tenant), form(tenant, **rule))
    assert "send_sms" in offered(tenant)


@pytest.mark.requirement("F06")
def test_each_tool_says_what_else_keeps_it_back(owner: Client, tenant: Tenant) -> None:
    """A switch that can do nothing by itself says why."""
    abilities = {one.name: one for one in owner.get(page_of(tenant)).context["abilities"]}
    assert sorted(abilities) == CALLED
    assert abilities["end_call"].why_not == ""
    assert abilities["end_call"].where == "phone"
    assert abilities["transfer_call"].why_not == "no rule of escalation puts calls through"
    owner.post(page_of(tenant), form(tenant, which_tools="chosen"))
    after = {one.name: one for one in owner.get(page_of(tenant)).context["abilities"]}
    assert after["end_call"].why_not == ""


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"vertical": "bakery"}, "Choose one of the kinds of business."),
        ({"caller_verification": "dna"}, "Choose one of the levels."),
        (
            {"escalation_rules.0.when": "", "escalation_rules.0.action": "message"},
            "Enter a condition, or remove the rule.",
        ),
        ({"escalation_rules.0.when": "x", "escalation_rules.0.action": "shout"}, "Choose what happens"),
        ({"which_tools": "chosen", "enabled_tools.x y": "on"}, "Choose tools from the list."),
    ],
)
def test_what_can_not_be_is_refused_in_a_sentence(
    owner: Client, tenant: Tenant, changes: dict[str, str], sentence: str
) -> None:
    before = version(tenant).number
    response = owner.post(page_of(tenant), form(tenant, **changes))
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert version(tenant).number == before


@pytest.mark.requirement("W02")
def test_the_history_says_what_changed(owner: Client, tenant: Tenant) -> None:
    """No list of tools is every one of them, and an empty one is none."""
    rule = {"escalation_rules.0.when": "they ask for the chef", "escalation_rules.0.action": "message"}
    changes = form(tenant, vertical="ecommerce", which_tools="chosen", caller_verification="code", **rule)
    owner.post(page_of(tenant), changes)
    found = owner.get(page_of(tenant, "history")).context["comparison"]["changes"]
    said = {change.label: (change.before, change.after) for change in found}
    assert said["Kind of business"] == ("Bookings", "Online shop")
    assert said["Tools it may use"] == ("all that the business allows", "none")
    assert said["Caller verification"] == ("never asked", "by a one-time code")
    assert said["Escalation “they ask for the chef”"] == ("", "they ask for the chef (then: they get a text)")


def test_a_viewer_looks_and_changes_nothing(tenant: Tenant, viewer: Any) -> None:
    client = browser(viewer)
    assert client.get(page_of(tenant)).status_code == 200
    assert client.post(page_of(tenant), form(tenant)).status_code == 403


@pytest.mark.requirement("F06", "L15")
def test_each_tool_shows_where_it_is_offered_and_what_it_takes(owner: Client, tenant: Tenant) -> None:
    """Arguments, section, and each channel with the reason why not."""
    for name in CALLED:
        response = owner.get(reverse("tool", args=[tenant.project.slug, name]))
        context, tool = response.context, builtin_tools()[name]
        assert [one.label for one in context["there"]] == ["Chat", "Phone", "Portal", "SMS", "WhatsApp"]
        assert tool.handler is not None
        assert {one.name for one in context["arguments"]} == set(tool.handler.schema["properties"])
        assert all(one.why_not for one in context["there"] if one.label != "Phone") or not tool.channels
        assert escape(tool.section.partition("\n")[0]) in response.content.decode()


@pytest.mark.requirement("L01")
def test_the_catalogue_tells_the_moments_apart(owner: Client, tenant: Tenant) -> None:
    groups = {group.label: group for group in owner.get(reverse("tools", args=[tenant.project.slug])).context["groups"]}
    assert [entry.name for entry in groups["Used while it answers"].entries] == CALLED
    assert "send_sms_tool" in {entry.name for entry in groups["Built in"].entries}


def test_a_channel_that_there_isnt_is_refused_with_those_that_there_are(api: Client) -> None:
    """An empty catalogue would say that nothing is offered."""
    refused = api.get("/api/v1/tools?channel=pigeon")
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("channel must be one of: chat, phone, webcall,")


@pytest.mark.requirement("F06", "L08")
def test_the_api_tells_what_a_model_is_told(api: Client) -> None:
    """Capability, category, channels, parameters and section of each tool that models call."""
    found = {tool["name"]: tool for tool in api.get("/api/v1/tools?channel=phone").json()["results"]}
    end_call = found["end_call"]
    assert (end_call["category"], end_call["channels"]) == ("phone", ["phone"])
    assert end_call["section"].startswith("### Ending the Call")
    assert end_call["parameters"]["properties"] == {}
    assert found["send_sms_tool"]["parameters"] is None
