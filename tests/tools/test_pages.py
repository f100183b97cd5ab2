"""Settings that decide which tools are offered, and the pages of the tool catalogue."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from console.agent.sections import SECTIONS
from console.tools.ability_list import ABILITIES
from projects.agents.drafts import publish_draft
from projects.agents.services import latest_agent_version
from projects.models import AgentVersion
from tests.conftest import Tenant
from tests.tenancy.conftest import browser
from tools.engine.catalogue import is_called_by_model
from tools.engine.registry import builtin_tools

BUSINESS = ("agent_name", "business_name", "business_context", "style", "vertical")
CALLED = sorted(name for name, tool in builtin_tools().items() if is_called_by_model(tool))


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    return browser(tenant.owner)


def page_of(tenant: Tenant, section: str) -> str:
    return reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": section})


def version(tenant: Tenant) -> AgentVersion:
    with tenant.tx():
        return AgentVersion.objects.filter(project=tenant.project).latest("number")


def form(tenant: Tenant, **changes: Any) -> dict[str, Any]:
    return {"started_from": version(tenant).number, "caller_verification": "none", **changes}


def business(tenant: Tenant, **changes: Any) -> dict[str, Any]:
    document = version(tenant).document
    return form(tenant, **{name: document[name] for name in BUSINESS} | changes)


def save_and_publish(owner: Client, tenant: Tenant, section: str = "escalation", **changes: Any) -> None:
    typed = business(tenant) if section == "business" else form(tenant)
    assert owner.post(page_of(tenant, section), typed | changes).status_code == 302
    with tenant.tx():
        publish_draft(tenant.project, started_from=latest_agent_version(tenant.project).number, author=tenant.owner)


def offered(tenant: Tenant, channel: str = "chat") -> set[str]:
    client = Client(headers=tenant.headers)
    found = client.get(f"/api/v1/tools?channel={channel}").json()["results"]
    return {tool["name"] for tool in found if tool["offered"] and set(tool["moments"]) & {"turn", "live"}}


@pytest.mark.requirement("W01")
def test_a_vertical_offers_its_tools(owner: Client, tenant: Tenant) -> None:
    """From the first turn after the change is published."""
    assert "open_ticket" not in offered(tenant)
    save_and_publish(owner, tenant, "business", vertical="help_center")
    assert "open_ticket" in offered(tenant)


@pytest.mark.requirement("W02")
def test_only_tools_that_are_switched_on_are_offered(owner: Client, tenant: Tenant) -> None:
    for key in (ability.key for ability in ABILITIES if ability.reply and ability.key != "endings"):
        owner.post(reverse("ability", args=[tenant.project.slug, key]), {"trigger": "reply", "value": "off"})
    assert version(tenant).config.enabled_tools == ["end_call"]
    assert offered(tenant, "phone") == {"end_call"}


@pytest.mark.requirement("F09")
def test_an_escalation_rule_offers_its_tool(owner: Client, tenant: Tenant) -> None:
    rule = {"escalation_rules.0.when": "they want it in writing", "escalation_rules.0.action": "message"}
    save_and_publish(owner, tenant, **rule)
    assert "send_sms" in offered(tenant)


def test_an_ability_is_switched_in_one_place(owner: Client, tenant: Tenant) -> None:
    """The settings have no second list of tools, whose draft would contradict the switches."""
    for section in SECTIONS:
        page = owner.get(page_of(tenant, section.slug)).content.decode()
        assert 'name="enabled_tools' not in page, section.slug
    owner.post(reverse("ability", args=[tenant.project.slug, "flags"]), {"trigger": "reply", "value": "off"})
    before = version(tenant).config.enabled_tools
    save_and_publish(owner, tenant, caller_verification="code")
    assert version(tenant).config.enabled_tools == before
    assert before
    assert "flag_caller" not in before


@pytest.mark.requirement("F06")
def test_a_tool_with_a_closed_gate_shows_the_reason(owner: Client, tenant: Tenant) -> None:
    page = owner.get(reverse("ability", args=[tenant.project.slug, "transfers"]), {"channel": "phone"})
    assert page.context["ability"].reply.why_not == "No transfer number is set up"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"caller_verification": "dna"}, "Choose a level from the list."),
        (
            {"escalation_rules.0.when": "", "escalation_rules.0.action": "message"},
            "Enter a condition, or remove the rule.",
        ),
        ({"escalation_rules.0.when": "x", "escalation_rules.0.action": "shout"}, "Choose whether to transfer"),
    ],
)
def test_invalid_settings_are_refused(owner: Client, tenant: Tenant, changes: dict[str, str], sentence: str) -> None:
    before = version(tenant).number
    response = owner.post(page_of(tenant, "escalation"), form(tenant, **changes))
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert version(tenant).number == before


def test_an_unknown_kind_of_business_is_refused(owner: Client, tenant: Tenant) -> None:
    response = owner.post(page_of(tenant, "business"), business(tenant, vertical="bakery"))
    assert response.status_code == 422
    assert "Choose a kind of business from the list." in response.content.decode()


def test_the_history_shows_the_changes(owner: Client, tenant: Tenant) -> None:
    rule = {"escalation_rules.0.when": "they ask for the chef", "escalation_rules.0.action": "message"}
    owner.post(page_of(tenant, "business"), business(tenant, vertical="ecommerce"))
    save_and_publish(owner, tenant, caller_verification="code", **rule)
    found = owner.get(page_of(tenant, "history")).context["comparison"]["changes"]
    said = {change.label: (change.before, change.after) for change in found}
    assert said["Kind of business"] == ("Bookings", "Online shop")
    assert said["Caller verification"] == ("never asked", "by a one-time code")
    assert said["Escalation “they ask for the chef”"] == ("", "they ask for the chef (then: they get a text)")


def test_a_viewer_cannot_change_anything(tenant: Tenant, viewer: Any) -> None:
    client = browser(viewer)
    assert client.get(page_of(tenant, "escalation")).status_code == 200
    assert client.post(page_of(tenant, "escalation"), form(tenant)).status_code == 403


@pytest.mark.requirement("F06", "L15")
def test_each_tool_shows_its_channels_arguments_and_section(owner: Client, tenant: Tenant) -> None:
    """With the reason for each channel that doesn't offer it."""
    for name in CALLED:
        response = owner.get(reverse("tool", args=[tenant.project.slug, name]))
        context, tool = response.context, builtin_tools()[name]
        assert [one.label for one in context["availability"]] == ["Chat", "Phone", "Portal", "SMS", "WhatsApp"]
        assert tool.handler is not None
        assert {one.name for one in context["arguments"]} == set(tool.handler.schema["properties"])
        assert all(one.why_not for one in context["availability"] if one.label != "Phone") or not tool.channels
        assert escape(tool.section.partition("\n")[0]) in response.content.decode()


@pytest.mark.requirement("L01")
def test_the_catalogue_says_when_an_ability_is_used(owner: Client, tenant: Tenant) -> None:
    listed = owner.get(reverse("tools", args=[tenant.project.slug])).context["abilities"]
    used = {name: ability.row for ability in listed for name in ability.row.tools}
    assert set(CALLED) <= {name for name, row in used.items() if row.reply}
    assert used["send_sms_tool"].promise


def test_an_unknown_channel_is_refused_with_the_known_ones(api: Client) -> None:
    refused = api.get("/api/v1/tools?channel=pigeon")
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("channel must be one of: chat, phone, webcall,")


@pytest.mark.requirement("F06", "L08")
def test_the_api_returns_what_a_model_is_shown(api: Client) -> None:
    """Capability, category, channels, parameters and section of each tool that models call."""
    found = {tool["name"]: tool for tool in api.get("/api/v1/tools?channel=phone").json()["results"]}
    end_call = found["end_call"]
    assert (end_call["category"], end_call["channels"]) == ("phone", ["phone"])
    assert end_call["section"].startswith("### Ending the Call")
    assert end_call["parameters"]["properties"] == {}
    assert found["send_sms_tool"]["parameters"] is None
