"""The tools' pages: the catalogue, switches, a project's own tools and their history."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.agents.services import save_agent
from projects.common.text_diff import line_differences
from projects.models import Member
from projects.models.agent_config import AgentConfig
from projects.records.attributes import resolve_attributes, set_attribute
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, browser, talk
from tests.tools.examples import KITCHEN
from tools.engine.catalogue import approval_setting, compile_tools
from tools.engine.custom import service
from tools.engine.transfers import TRANSFER_NUMBERS
from tools.models import CustomTool, EffectState

SMS = "project_attributes_setting_sms_send_information_enabled"
NAME = "notify_kitchen_tool"


def url_of(tenant: Tenant, view: str, *names: str, query: str = "") -> str:
    return reverse(view, args=[tenant.project.slug, *names]) + query


def save(tenant: Tenant, **changes: Any) -> CustomTool:
    with tenant.tx():
        return service.save(tenant.project, name=NAME, document={**KITCHEN, **changes}).tool


def entries(client: Client, tenant: Tenant, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = client.get(url_of(tenant, "tools", query=query)).context["entries"]
    return found


@pytest.mark.requirement("N25", "N31")
def test_the_catalogue_shows_availability_and_the_reason(owner: Client, tenant: Tenant) -> None:
    """In the eyes of a person, the reason is the setting's name in words."""
    with tenant.tx():
        set_attribute(tenant.project, SMS, False)
    found = entries(owner, tenant)
    assert (found["send_sms_tool"].word, found["send_sms_tool"].summary) == ("Off", "“Send texts” is off")
    assert found["end_conversation_tool"].word == "On"


def test_a_tool_of_the_reply_names_the_switch_of_its_kind_in_words(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, "project_attributes_setting_booking_check_availability_enabled", False)
    assert entries(owner, tenant)["check_availability"].summary == "“Check availability” is off"


@pytest.mark.requirement("N27")
def test_a_phone_tool_is_available_on_the_phone_only(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, "project_attributes_setting_transfer_call_enabled", True)
    assert entries(owner, tenant)["transfer_call_tool"].word == "Phone only"
    assert entries(owner, tenant, "?channel=phone")["transfer_call_tool"].word == "On"


def test_a_replacement_names_the_built_in_tool(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        service.save(tenant.project, name="send_sms_tool", document=KITCHEN)
    assert entries(owner, tenant)["send_sms_tool"].overrides
    text = owner.get(url_of(tenant, "tool", "send_sms_tool")).content.decode()
    assert "Replaces the built-in tool." in text


def test_a_tool_whose_last_call_failed_is_failing(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_effect(tenant, row, state=EffectState.DONE)
    add_effect(tenant, row, state=EffectState.FAILED, error="401 from the parking service.", request={"to": "+39"})
    found = entries(owner, tenant)["send_sms_tool"]
    assert (found.word, found.summary) == ("Failing", "401 from the parking service.")


def test_a_refusal_by_our_own_rules_is_not_a_failure(owner: Client, tenant: Tenant) -> None:
    add_effect(
        tenant, talk(tenant, "Hi"), tool="create_booking_tool", state=EffectState.FAILED, error="No table is free."
    )
    assert entries(owner, tenant)["create_booking_tool"].word == "On"


@pytest.mark.parametrize("numbers", ["kitchen: +39 06 555 0114", "0039065550114"])
def test_a_tools_page_has_its_settings_that_are_texts(owner: Client, tenant: Tenant, numbers: str) -> None:
    """Also for members without developer tools, who have no page of attributes. Escalation leads there."""
    with tenant.tx():
        Member.objects.filter(user=tenant.owner).update(developer_tools=False)
    address = reverse("tool", args=[tenant.project.slug, "transfer_call_tool"])
    assert (
        address
        in owner.get(
            reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "escalation"})
        ).content.decode()
    )
    owner.post(address, {"do": "gate", "key": TRANSFER_NUMBERS, "value": numbers})
    with tenant.tx():
        assert resolve_attributes(tenant.project)[TRANSFER_NUMBERS].value == numbers
    assert f'value="{numbers}"' in owner.get(address).content.decode()


def test_a_built_in_tool_is_switched_on_its_page(owner: Client, tenant: Tenant) -> None:
    address = url_of(tenant, "tool", "send_sms_tool")
    owner.post(address, {"do": "gate", "key": SMS, "value": "False"})
    with tenant.tx():
        assert resolve_attributes(tenant.project)[SMS].value is False
    assert "Not available." in owner.get(address).content.decode()


def test_approval_is_required_on_the_tools_page(owner: Client, tenant: Tenant) -> None:
    address = url_of(tenant, "tool", "send_sms_tool")
    owner.post(address, {"do": "gate", "key": approval_setting("send_sms_tool"), "value": "True"})
    with tenant.tx():
        compiled = {tool.name: tool for tool in compile_tools(tenant.project, channel="chat")}
    assert compiled["send_sms_tool"].definition.requires_approval
    assert "Require approval" in owner.get(address).content.decode()


@pytest.mark.parametrize("key", ["greeting", "project_attributes_setting_booking_enabled", ""])
def test_only_the_tools_own_settings_can_be_changed_on_its_page(key: str, owner: Client, tenant: Tenant) -> None:
    body = {"do": "gate", "key": key, "value": "False"}
    assert owner.post(url_of(tenant, "tool", "send_sms_tool"), body).status_code == 404


def test_an_invalid_choice_shows_an_error(owner: Client, tenant: Tenant) -> None:
    body = {"do": "gate", "key": "project_attributes_setting_booking_cancellation_type", "value": "maybe"}
    text = owner.post(url_of(tenant, "tool", "cancel_booking_tool"), body, follow=True).content.decode()
    assert "must be one of endpoint, project, manual" in text


def test_the_editor_of_a_new_tool_starts_empty(owner: Client, tenant: Tenant) -> None:
    """Examples are placeholders; only the name of the usual condition is given."""
    draft = json.loads(owner.get(url_of(tenant, "new_tool")).context["text"])
    assert (draft["description"], draft["action"]["options"]["url"]) == ("", "")
    assert [condition["description"] for condition in draft["conditions"].values()] == [""]


def test_a_replacement_starts_with_the_definition_it_replaces(owner: Client, tenant: Tenant) -> None:
    response = owner.get(url_of(tenant, "new_tool", query="?from=send_sms_tool"))
    assert "notRelatedToExistingBooking" in response.context["text"]
    assert response.context["name"] == "send_sms_tool"


def test_custom_tools_are_turned_off_on_and_removed(owner: Client, tenant: Tenant) -> None:
    save(tenant)
    address = url_of(tenant, "tool", NAME)
    owner.post(address, {"do": "off"})
    assert entries(owner, tenant)[NAME].word == "Off"
    owner.post(address, {"do": "on"})
    assert entries(owner, tenant)[NAME].word == "On"
    owner.post(address, {"do": "remove"})
    assert NAME not in entries(owner, tenant)
    assert "This tool was removed" in owner.get(address).content.decode()


def test_removing_a_tool_lists_the_steps_that_use_it(owner: Client, tenant: Tenant) -> None:
    """With the way to each, where it is switched off or removed, and in the admin."""
    save(tenant)
    step = {"text": "Tell the kitchen", "collects": [], "tools": [NAME]}
    with tenant.tx():
        document = {**tenant.project.agent_version.document, "scenarios": [{"title": "Allergies", "steps": [step]}]}
        save_agent(tenant.project, config=AgentConfig.model_validate(document), author=None)
        tool = CustomTool.objects.get(name=NAME)
    link = f"{reverse('agent', kwargs={'project_slug': tenant.project.slug, 'section': 'scenarios'})}#scenarios-0-steps-0-tools"
    text = owner.get(url_of(tenant, "tool", NAME)).content.decode()
    assert f'<a href="{link}" target="_blank">1.1 Allergies</a>' in text
    assert text.count("data-confirms") == 2
    confirmation = owner.get(reverse("admin:tools_customtool_delete", args=[tool.pk])).content.decode()
    assert f'<a href="{link}">1.1 Allergies</a>' in confirmation
    act = {"action": "disable", "_selected_action": [str(tool.pk)]}
    changelist = reverse("admin:tools_customtool_changelist")
    asked = owner.post(changelist, act).content.decode()
    assert f'<a href="{link}">1.1 Allergies</a>' in asked
    assert entries(owner, tenant)[NAME].word == "On"
    owner.post(changelist, {**act, "post": "yes"})
    assert entries(owner, tenant)[NAME].word == "Off"


def test_the_history_shows_differences_and_restores_a_version(owner: Client, tenant: Tenant) -> None:
    save(tenant)
    save(tenant, description="Tells the chef.")
    address = url_of(tenant, "tool_history", NAME)
    lines = owner.get(address).context["comparison"].lines
    assert [line.text.strip() for line in lines if line.kind == "add"] == ['"description": "Tells the chef.",']
    owner.post(address, {"restore": 1, "started_from": 2})
    with tenant.tx():
        tool = CustomTool.objects.get(name=NAME)
    assert (tool.version, tool.definition["description"]) == (3, KITCHEN["description"])


def test_a_restore_over_a_concurrent_save_is_refused(owner: Client, tenant: Tenant) -> None:
    save(tenant)
    save(tenant, description="Tells the chef.")
    body = {"restore": 1, "started_from": 1}
    text = owner.post(url_of(tenant, "tool_history", NAME), body, follow=True).content.decode()
    assert "saved as version 2 in the meantime" in text


@pytest.mark.parametrize(
    "body", [{}, {"restore": "1"}, {"restore": "x", "started_from": "1"}, {"restore": "²", "started_from": "1"}]
)
def test_an_invalid_restore_is_not_found(body: dict[str, str], owner: Client, tenant: Tenant) -> None:
    save(tenant)
    assert owner.post(url_of(tenant, "tool_history", NAME), body).status_code == 404


def test_a_removed_tool_is_restored_from_its_history(owner: Client, tenant: Tenant) -> None:
    save(tenant)
    owner.post(url_of(tenant, "tool", NAME), {"do": "remove"})
    owner.post(url_of(tenant, "tool_history", NAME), {"restore": 1, "started_from": 0})
    assert entries(owner, tenant)[NAME].word == "On"


def test_secrets_are_listed_but_never_shown(owner: Client, tenant: Tenant) -> None:
    client = Client(headers=tenant.headers)
    body = {"definition": KITCHEN, "expected_version": 0}
    saved = client.put(f"/api/v1/custom-tools/{NAME}", body, content_type="application/json").json()
    client.patch(
        f"/api/v1/custom-tools/{NAME}/secret-headers",
        {"headers": {"X-Api-Key": "sesame-open"}},
        content_type="application/json",
    )
    text = owner.get(url_of(tenant, "tool", NAME)).content.decode()
    assert "X-Api-Key" in text
    assert "sesame-open" not in text
    assert saved["signing_secret"] not in text


@pytest.mark.parametrize("view", ["tool", "tool_history"])
def test_an_unknown_tool_is_not_found(view: str, owner: Client, tenant: Tenant) -> None:
    assert owner.get(url_of(tenant, view, "no_such_tool")).status_code == 404


@pytest.mark.parametrize("role", ["operator", "viewer"])
def test_members_who_cannot_configure_can_only_read(role: str, tenant: Tenant, request: pytest.FixtureRequest) -> None:
    save(tenant)
    client: Client = browser(request.getfixturevalue(role))
    text = client.get(url_of(tenant, "tool", NAME)).content.decode()
    for words in ('id="save"', 'id="rotate"', "Remove", 'id="evaluate"'):
        assert words not in text
    assert client.get(url_of(tenant, "new_tool")).status_code == 403
    for view, body in (("tool", {"do": "off"}), ("tool_history", {"restore": 1, "started_from": 1})):
        assert client.post(url_of(tenant, view, NAME), body).status_code == 403


def test_another_tenants_tool_is_not_found(tenant: Tenant, stranger: Tenant) -> None:
    save(tenant)
    client = browser(stranger.owner)
    for view in ("tool", "tool_history"):
        assert client.get(url_of(stranger, view, NAME)).status_code == 404
        assert client.get(url_of(tenant, view, NAME)).status_code == 404


def check(tenant: Tenant, text: str, name: str = NAME) -> dict[str, Any]:
    client = Client(headers=tenant.headers)
    answer = client.post("/api/v1/tools/check", {"name": name, "text": text}, content_type="application/json")
    assert answer.status_code == 200
    return dict(answer.json())


def test_problems_name_their_path(tenant: Tenant) -> None:
    found = check(tenant, '{"description": "x", "conditions": {"a": {"type": "text"}}}')
    assert {problem["path"] for problem in found["problems"]} >= {"conditions.a.type", "useConversationHistory"}


def test_invalid_json_is_reported_by_line_and_column(tenant: Tenant) -> None:
    found = check(tenant, '{\n  "description": True\n}')
    assert "line 2, column 18" in found["problems"][0]["message"]
    assert "lowercase true" in found["problems"][0]["message"]


def test_a_lookalike_name_is_refused_before_saving(tenant: Tenant) -> None:
    found = check(tenant, "{}", name="Send_SMS_tool")
    assert found["problems"][0]["path"] == "name"


def test_a_plain_text_secret_is_a_warning(tenant: Tenant) -> None:
    document = {**KITCHEN, "action": {"type": "send_webhook", "options": {"url": "https://x.example/?api_key=abc"}}}
    found = check(tenant, json.dumps(document))
    assert found["problems"] == []
    assert "secret" in found["warnings"][0]["message"]


def test_unchanged_lines_are_omitted_except_for_context() -> None:
    old = "\n".join(str(number) for number in range(40))
    lines = line_differences(old, old.replace("20", "twenty"))
    assert [(line.kind, line.text) for line in lines] == [
        ("gap", "…"),
        *(("", str(number)) for number in (17, 18, 19)),
        ("del", "20"),
        ("add", "twenty"),
        *(("", str(number)) for number in (21, 22, 23)),
    ]
