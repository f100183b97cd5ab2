"""The compiled set: built-in tools behind their gates, overridden by custom tools."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from projects.agents.services import create_project
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from projects.knowledge.services import Writer, write_article
from projects.knowledge.text import ArticleText
from projects.models import Attribute, Source
from projects.models.agent_config import AgentConfig
from projects.records.attributes import set_attribute
from tests.tools.conftest import Tools
from tests.tools.examples import NAME, event, webhook
from tools.engine.business_state import read_state
from tools.engine.catalogue import at_moment, compile_tools, is_called_by_model
from tools.engine.custom import service
from tools.engine.definition import RetryPolicy, Trigger
from tools.engine.platform import stored_definitions
from tools.engine.registry import builtin_tools
from tools.models import CustomTool, Resource

SETTING = "project_attributes_setting_"
PRODUCTS = f"{SETTING}products_and_services_background_check_"
# Attributes, and the tools that each switches.
SWITCHES = [
    (f"{SETTING}booking_check_availability_enabled", ["check_availability_tool"]),
    (f"{SETTING}booking_enabled", ["create_booking_tool", "search_booking_tool"]),
    (f"{SETTING}booking_cancellation_enabled", ["cancel_booking_tool"]),
    (f"{SETTING}sms_send_information_enabled", ["send_sms_tool"]),
    (f"{SETTING}email_send_information_enabled", ["send_email_tool"]),
    (f"{PRODUCTS}location_enabled", ["check_zip_code_served_tool"]),
    (f"{PRODUCTS}availability_enabled", ["check_product_or_service_availability"]),
    (f"{SETTING}booking_manage_url_enabled", ["send_manage_booking_url_tool"]),
]


@pytest.fixture
def bare(tools: Tools) -> Tools:
    """A project with every attribute off."""
    with tools.tenant.tx():
        Attribute.objects.all().delete()
    return tools


def switch(tools: Tools, **values: Any) -> None:
    with tools.tenant.tx():
        for key, value in values.items():
            set_attribute(tools.tenant.project, key, value)


def offered(tools: Tools, channel: str = "chat") -> set[str]:
    """The tools offered for commitments."""
    compiled = at_moment(tools.compiled(channel).values(), Trigger.COMMITMENT)
    return {tool.name for tool in compiled if tool.is_offered}


# Gates


@pytest.mark.requirement("N22", "N23", "N24", "N25", "N26", "N29", "N30", "N32")
@pytest.mark.parametrize(("key", "names"), SWITCHES)
def test_an_attribute_switches_its_tools(bare: Tools, key: str, names: list[str]) -> None:
    """An absent tool names the attribute that would switch it on."""
    compiled = bare.compiled()
    assert [compiled[name].why_not for name in names] == [f"{key} is not True"] * len(names)
    switch(bare, **{key: "True"})
    assert offered(bare) >= set(names)


@pytest.mark.requirement("N24")
@pytest.mark.parametrize(("kind", "is_offered"), [("endpoint", True), ("project", True), ("manual", False)])
def test_cancellation_requires_its_booking_type(bare: Tools, kind: str, is_offered: bool) -> None:
    switch(bare, **{f"{SETTING}booking_cancellation_enabled": True, f"{SETTING}booking_cancellation_type": kind})
    assert ("cancel_booking_tool" in offered(bare)) is is_offered


@pytest.mark.requirement("N14", "N27")
@pytest.mark.parametrize(("channel", "is_offered"), [("phone", True), ("webcall", True), ("chat", False)])
def test_transfer_is_offered_on_the_phone_only(bare: Tools, channel: str, is_offered: bool) -> None:
    switch(bare, **{f"{SETTING}transfer_call_enabled": True})
    assert ("transfer_call_tool" in offered(bare, channel)) is is_offered


@pytest.mark.requirement("N28")
@pytest.mark.parametrize(("value", "is_offered"), [("google_integration", True), ("none", False)])
def test_meetings_require_a_calendar(bare: Tools, value: str, is_offered: bool) -> None:
    switch(bare, **{f"{SETTING}calendar_event_integration": value})
    assert ("create_meeting_tool" in offered(bare)) is is_offered


@pytest.mark.requirement("N31")
def test_a_conversation_can_always_be_ended(bare: Tools) -> None:
    assert offered(bare) == {"end_conversation_tool"}


@pytest.mark.requirement("N32", "N41", "N42")
@pytest.mark.parametrize(
    ("tag", "names"),
    [
        ("sms", {"send_sms_tool", "send_manage_booking_url_tool"}),
        ("availability", {"check_availability_tool", "check_product_or_service_availability"}),
    ],
)
def test_similar_tools_share_a_tag(tag: str, names: set[str]) -> None:
    assert {name for name, tool in builtin_tools().items() if tool.definition.tag == tag} == names


@pytest.mark.requirement("L01", "L21")
def test_tools_for_todos(bare: Tools) -> None:
    """Tools that only a conversation can act on, and tools that a model calls, don't run for todos."""
    fired = {name: tool for name, tool in bare.compiled("phone").items() if not is_called_by_model(tool)}
    alone = {name for name, tool in fired.items() if list(tool.moments) == [Trigger.TASK]}
    assert alone == {"send_email", "send_email_to_caller"}
    assert {name for name, tool in fired.items() if Trigger.TASK not in tool.moments} == {
        "end_conversation_tool",
        "transfer_call_tool",
    }


def test_no_built_in_tool_is_both_called_and_fired(bare: Tools) -> None:
    """A tool that a model calls isn't detected in its words as well."""
    compiled = bare.compiled("phone").values()
    assert not [tool.name for tool in compiled if is_called_by_model(tool) and Trigger.COMMITMENT in tool.moments]


# The project's own


@pytest.mark.requirement("N15")
def test_a_custom_tool_is_compiled_from_the_next_turn_on(bare: Tools) -> None:
    assert NAME not in bare.compiled()
    bare.save(NAME, webhook())
    tool = bare.compiled()[NAME]
    assert (tool.origin, tool.version, tool.is_offered, tool.overrides) == ("custom", 1, True, None)
    assert tool.definition.action.webhook.url == "https://api.example.com/action"


@pytest.mark.requirement("N15")
def test_an_edited_tool_is_not_served_from_the_cache(bare: Tools) -> None:
    bare.save(NAME, event(description="Before"))
    assert bare.compiled()[NAME].definition.description == "Before"
    bare.save(NAME, event(description="After"))
    tool = bare.compiled()[NAME]
    assert (tool.definition.description, tool.version) == ("After", 2)


def test_a_filtered_catalogue_equals_that_part_of_the_whole(tools: Tools) -> None:
    """Filtered by trigger or name, with a custom tool over a built-in one, switched on or off."""
    for name, is_enabled in (
        ("send_sms_tool", True),
        ("send_email", True),
        ("send_email_to_caller", False),
        (NAME, False),
    ):
        tools.save(name, webhook(), is_enabled=is_enabled)
    whole, names = tools.compiled("phone"), ["send_sms_tool", "send_email_to_caller", NAME, "nowhere"]
    with tools.tenant.tx():
        project = tools.tenant.project
        for moment in Trigger:
            assert compile_tools(project, channel="phone", moment=moment) == at_moment(whole.values(), moment)
        some = compile_tools(project, channel="phone", names=names)
    assert {tool.name: tool for tool in some} == {name: whole[name] for name in names if name in whole}


def test_a_rolled_back_version_is_not_served_from_the_cache(bare: Tools) -> None:
    """Its number is used again for another definition."""
    bare.save(NAME, event(description="One"))
    project = bare.tenant.project
    with pytest.raises(RuntimeError), bare.tenant.tx():
        service.save(project, name=NAME, document=event(description="Two, rolled back"))
        assert compile_tools(project, channel="chat")
        raise RuntimeError
    bare.save(NAME, event(description="Two"))
    assert bare.compiled()[NAME].definition.description == "Two"


def test_an_exact_name_overrides_the_built_in_tool(bare: Tools) -> None:
    """The gate of the built-in tool doesn't apply."""
    bare.save("send_sms_tool", webhook())
    tool = bare.compiled()["send_sms_tool"]
    assert (tool.origin, tool.overrides, tool.is_offered) == ("custom", "built-in", True)


def test_a_disabled_override_has_no_effect(bare: Tools) -> None:
    bare.save("end_conversation_tool", event())
    bare.do(service.disable, "end_conversation_tool")
    assert bare.compiled()["end_conversation_tool"].origin == "built-in"


def test_a_disabled_tool_gives_the_reason(bare: Tools) -> None:
    bare.save(NAME, event())
    bare.do(service.disable, NAME)
    assert bare.compiled()[NAME].why_not == "It is switched off."


@pytest.mark.parametrize(
    ("name", "document", "moments"),
    [
        (NAME, webhook(), ["commitment", "task"]),
        (NAME, event(), ["commitment"]),
        ("send_sms_tool", event(), ["commitment", "task"]),
        ("end_conversation_tool", event(), ["commitment"]),
        ("send_sms", event(), ["commitment"]),
    ],
)
def test_a_custom_tool_runs_for_todos_if_something_executes_it(
    bare: Tools, name: str, document: Any, moments: list[str]
) -> None:
    bare.save(name, document)
    assert list(bare.compiled()[name].moments) == moments


@pytest.mark.requirement("N49")
@pytest.mark.parametrize(
    ("name", "document", "kind", "delivery"),
    [
        (NAME, webhook(), "webhook", RetryPolicy.ONCE),
        (NAME, webhook(method="GET", body=None), "webhook", RetryPolicy.IDEMPOTENT),
        (NAME, event(), "event", RetryPolicy.IDEMPOTENT),
        ("send_sms_tool", event(), "sms", RetryPolicy.ONCE),
        ("send_sms", event(), "sms", RetryPolicy.ONCE),
        ("end_call", event(), "event", RetryPolicy.IDEMPOTENT),
        ("send_sms_tool", webhook(), "webhook", RetryPolicy.ONCE),
    ],
)
def test_a_custom_tool_has_the_kind_of_its_handler(
    bare: Tools, name: str, document: Any, kind: str, delivery: RetryPolicy
) -> None:
    """A built-in tool's handler executes the event of that name, so duplicates are detected across both."""
    bare.save(name, document)
    tool = bare.compiled()[name]
    assert (tool.kind, tool.delivery) == (kind, delivery)


def test_an_invalid_stored_tool_is_skipped(bare: Tools, caplog: pytest.LogCaptureFixture) -> None:
    with bare.tenant.tx():
        CustomTool.objects.create(project=bare.tenant.project, name="old_tool", definition={"form": "of long ago"})
    bare.save(NAME, event())
    compiled = bare.compiled()
    assert NAME in compiled
    assert "old_tool" not in compiled
    assert "can't be read and is left out" in caplog.text


def test_compiling_takes_two_queries_regardless_of_the_number_of_tools(bare: Tools) -> None:
    for number in range(3):
        bare.save(f"tool_{'abc'[number]}", event())
    # The platform's definitions are kept for a minute.
    stored_definitions()
    with bare.tenant.tx(), CaptureQueriesContext(connection) as queries:
        compile_tools(bare.tenant.project, channel="chat")
    assert len(queries) == 2


@pytest.mark.requirement("F06", "F07", "L05")
def test_another_projects_resources_open_no_gate(tools: Tools) -> None:
    """Nor do drafts and disabled connections."""
    tenant = tools.tenant
    lookup, text = (
        SourceEdit({"url": "https://crm.example.com/callers"}),
        ArticleText(title="Dogs", excerpt="", body="Yes."),
    )
    with tenant.tx():
        second = create_project("Second", config=AgentConfig.model_validate(tenant.project.agent_version.document))
        Resource.objects.update(project=second)
        for project in (tenant.project, second):
            connect_source(project, KINDS["client_lookup"], lookup, by=tenant.owner)
            write_article(project, text, by=Writer(tenant.owner), is_published=project == second)
        Source.objects.filter(project=tenant.project).update(is_enabled=False)
        here, there = (read_state(project, channel="phone") for project in (tenant.project, second))
    assert (here.has_book, here.has_articles, here.connected) == (False, False, frozenset())
    assert (there.has_book, there.has_articles, there.connected) == (True, True, frozenset({"client_lookup"}))
