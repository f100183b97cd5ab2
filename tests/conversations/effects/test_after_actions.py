"""After-actions: run in order, each once, each with its own status."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from conversations.common.contacts import read_contact
from conversations.models import PersonaField, PromptSection
from conversations.models.persona import Strength
from conversations.turns.services import give_fields
from jobs import outages
from jobs.models import Job
from jobs.services import run_again
from tests.conversations.effects.conftest import Bench, webhook
from tests.conversations.effects.target import Answers, Target
from tests.conversations.pipeline.conftest import configure
from tests.processes import ScriptedModel
from tools.models import Effect

TELL = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}


def states(effect: Effect) -> list[tuple[str, str]]:
    return [(row.type, row.state) for row in effect.after_actions.all()]


def notify(bench: Bench, target: Target, *after_actions: dict[str, Any], **options: Any) -> Effect:
    bench.tool("notify", webhook(target.url, after_actions=list(after_actions), **options))
    return bench.execute("notify")


@pytest.mark.requirement("N46")
def test_an_urgent_message_is_sent_with_its_prefix_once(bench: Bench, target: Target) -> None:
    target.answers(Answers(body='{"eta": "7 pm"}'))
    effect = notify(bench, target, TELL)
    assert states(effect) == [("send_urgent_message", "done")]
    assert bench.urgent() == ['Crew says: {"eta": "7 pm"}']


def test_an_urgent_message_may_have_no_prefix(bench: Bench, target: Target) -> None:
    target.answers(Answers(body="on the way"))
    notify(bench, target, {"type": "send_urgent_message"})
    assert bench.urgent() == ["on the way"]


@pytest.mark.requirement("N47", "T21")
def test_a_customer_field_is_set_from_a_path_in_the_response(bench: Bench, target: Target) -> None:
    """Raw and processed values are both kept; without an instruction they are equal."""
    target.answers(Answers(body='{"loyalty": {"level": "gold"}}'))
    options = {"attribute": "loyalty", "path": "loyalty.level"}
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": options})
    [row] = effect.after_actions.all()
    assert (row.state, row.raw, row.value) == ("done", "gold", "gold")
    with bench.tenant.tx():
        assert PersonaField.objects.get(key="loyalty").value == "gold"


@pytest.mark.parametrize(("scope", "is_of_conversation"), [("customer", False), ("conversation", True)])
def test_a_field_set_by_a_tool_follows_its_scope(
    scope: str, is_of_conversation: bool, bench: Bench, target: Target
) -> None:
    """In the conversation the customer's next word replaces it."""
    configure(bench.tenant, observer_fields=[{"key": "slot", "description": "the slot", "scope": scope}])
    target.answers(Answers(body='{"slot": "9 am"}'))
    notify(bench, target, {"type": "set_persona_attribute", "options": {"attribute": "slot", "path": "slot"}})
    with bench.tenant.tx():
        field = PersonaField.objects.get(key="slot")
        assert field.conversation_id == (bench.conversation.pk if is_of_conversation else None)
        assert field.strength == (Strength.STATED if is_of_conversation else Strength.GIVEN)


@pytest.mark.requirement("N47")
def test_a_model_applies_the_instruction_to_the_value(bench: Bench, target: Target, model: ScriptedModel) -> None:
    target.answers(Answers(body='{"total": 42.5, "currency": "EUR"}'))
    made = {"instruction": "The total amount, as a number."}
    attribute = {"type": "set_persona_attribute", "options": {"attribute": "order_total", **made}}
    section = {"type": "set_prompt_section", "options": {"section": "Total", **made}}
    for row in notify(bench, target, attribute, section).after_actions.all():
        assert (row.raw, row.value) == ('{"total": 42.5, "currency": "EUR"}', "42.5")
    with bench.tenant.tx():
        assert PersonaField.objects.get(key="order_total").value == "42.5"
        assert PromptSection.objects.get(name="Total").content == "42.5"


@pytest.mark.requirement("N47")
@pytest.mark.parametrize(
    ("attribute", "answer", "kept"),
    [
        ("phone", "347 555 0142", "+393475550142"),
        ("email", " Giulia@Example.com", "giulia@example.com"),
        ("phone", "x", ""),
    ],
)
def test_contact_details_are_normalized_and_invalid_ones_refused(
    attribute: str, answer: str, kept: str, bench: Bench, target: Target
) -> None:
    target.answers(Answers(body=answer))
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": {"attribute": attribute}})
    assert states(effect) == [("set_persona_attribute", "done" if kept else "failed")]
    with bench.tenant.tx():
        found = list(PersonaField.objects.filter(key=attribute).values_list("value", flat=True))
    assert found == ([kept] if kept else [])


@pytest.mark.requirement("N47")
@pytest.mark.parametrize(("given", "kept"), [({}, "+393475550142"), ({"phone": "+393470000001"}, "+393470000001")])
def test_a_phone_number_read_by_a_model_does_not_replace_the_one_on_file(
    given: dict[str, str], kept: str, bench: Bench, target: Target, model: ScriptedModel
) -> None:
    """It replaces nothing that staff entered, and receives no verification code."""
    model.script("arguments", json={"value": "347 555 0142"})
    target.answers(Answers(body='{"line": "347 555 0142 or so"}'))
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, given)
    made = {"attribute": "phone", "instruction": "The phone number."}
    notify(bench, target, {"type": "set_persona_attribute", "options": made})
    with bench.tenant.tx():
        contact = read_contact(bench.talk.reload().persona_id)
    assert contact is not None
    assert (contact.phone, contact.phone_on_file) == (kept, given.get("phone", ""))


@pytest.mark.requirement("N48")
def test_a_prompt_section_is_set_and_appears_in_the_next_prompt(bench: Bench, target: Target) -> None:
    target.answers(Answers(body='{"delays": "Bus 44 is late."}'))
    options = {"section": "Delays", "path": "delays"}
    notify(bench, target, {"type": "set_prompt_section", "options": options})
    with bench.tenant.tx():
        assert PromptSection.objects.get(conversation=bench.conversation, name="Delays").content == "Bus 44 is late."
    [event] = bench.events("set_prompt_section")
    assert event["section"] == "Delays"


@pytest.mark.requirement("N21")
def test_after_actions_run_in_order_and_a_failed_one_stops_none(bench: Bench, target: Target) -> None:
    missing = {"type": "set_persona_attribute", "options": {"attribute": "level", "path": "no.such.part"}}
    fixed = {"type": "set_persona_attribute", "options": {"attribute": "vip", "value": "yes"}}
    effect = notify(bench, target, missing, fixed, TELL)
    rows = list(effect.after_actions.all())
    assert [row.state for row in rows] == ["failed", "done", "done"]
    assert (rows[0].error, rows[1].value) == ("The response has no no.such.part.", "yes")
    assert rows[1].finished_at < rows[2].finished_at


@pytest.mark.requirement("N47")
@pytest.mark.parametrize("step", ["2", "-1", "\u00b9"])
def test_a_missing_list_item_is_named_in_the_error(step: str, bench: Bench, target: Target) -> None:
    """Also if an index only looks like a number."""
    target.answers(Answers(body='{"levels": ["silver", "gold"]}'))
    options = {"attribute": "loyalty", "path": f"levels.{step}"}
    [row] = notify(bench, target, {"type": "set_persona_attribute", "options": options}).after_actions.all()
    assert (row.state, row.error) == ("failed", f"The response has no levels.{step}.")


@pytest.mark.parametrize(
    ("body", "state", "stored"), [("x" * 501, "failed", ""), ("a\u202eb", "done", "ab"), ("\x07", "skipped", "")]
)
def test_a_long_value_is_refused_and_control_characters_are_removed(
    body: str, state: str, stored: str, bench: Bench, target: Target
) -> None:
    target.answers(Answers(body=body))
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": {"attribute": "note"}})
    assert states(effect) == [("set_persona_attribute", state)]
    with bench.tenant.tx():
        assert "".join(PersonaField.objects.filter(key="note").values_list("value", flat=True)) == stored


@pytest.mark.requirement("N21")
@pytest.mark.parametrize("answer", [Answers(body=""), Answers(204, body="")])
def test_after_actions_are_skipped_if_the_response_is_empty(answer: Answers, bench: Bench, target: Target) -> None:
    target.answers(answer)
    effect = notify(bench, target, TELL)
    assert (effect.state, states(effect), bench.urgent()) == ("done", [("send_urgent_message", "skipped")], [])


def test_after_actions_are_skipped_if_the_action_failed(bench: Bench, target: Target) -> None:
    """The agent is told of the failure once."""
    target.answers(Answers(404))
    effect = notify(bench, target, TELL)
    assert states(effect) == [("send_urgent_message", "skipped")]
    assert bench.urgent() == ["notify was not done: The endpoint refused it (404)."]


@pytest.mark.requirement("N21")
def test_after_actions_also_follow_an_urgent_message(bench: Bench) -> None:
    fixed = {"type": "set_persona_attribute", "options": {"attribute": "vip", "value": "yes"}}
    definition = webhook("https://example.com/", after_actions=[fixed])
    bench.tool("remind", {**definition, "action": {"type": "send_urgent_message", "options": {"message": "Hi"}}})
    assert states(bench.execute("remind")) == [("set_persona_attribute", "done")]


@pytest.mark.requirement("N20", "N46")
@pytest.mark.parametrize(
    ("after", "told"),
    [({"message": "Ask for the address."}, ["Hi", "Ask for the address."]), ({"prefix": "Desk"}, ["Desk: Hi"])],
)
def test_an_urgent_message_after_a_message_tool_tells_both(
    after: dict[str, str], told: list[str], bench: Bench
) -> None:
    """The action's own message is told too, with the prefix in front."""
    follows = {"type": "send_urgent_message", "options": after}
    definition = webhook("https://example.com/", after_actions=[follows])
    bench.tool("remind", {**definition, "action": {"type": "send_urgent_message", "options": {"message": "Hi"}}})
    bench.execute("remind")
    assert bench.urgent() == told


@pytest.mark.requirement("N47")
def test_a_null_in_the_response_is_not_a_value(bench: Bench, target: Target) -> None:
    """A customer whose level is null does not have the level "null"."""
    target.answers(Answers(body='{"loyalty": {"level": null}}'))
    options = {"attribute": "loyalty", "path": "loyalty.level"}
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": options})
    assert [(row.state, row.error) for row in effect.after_actions.all()] == [
        ("failed", "The response has no loyalty.level.")
    ]


def fails_and_runs_again(bench: Bench, model: ScriptedModel, definition: dict[str, Any]) -> Effect:
    """An effect whose arguments could not be extracted, and whose job staff runs again."""
    model.script("arguments", times=1, fault="404")
    bench.tool("notify", definition)
    effect = bench.execute("notify")
    assert effect.state == "failed"
    with bench.tenant.tx():
        run_again(bench.tenant.project, Job.objects.get(lane="effect").pk)
    bench.run()
    return bench.effect(effect)


NAMED = {"type": "object", "properties": {"customer_name": {"type": "string"}}}


@pytest.mark.requirement("N21")
def test_after_actions_skipped_by_a_failure_run_when_the_effect_is_retried(
    bench: Bench, target: Target, model: ScriptedModel
) -> None:
    target.answers(Answers(body="on the way"))
    effect = fails_and_runs_again(bench, model, webhook(target.url, body=NAMED, after_actions=[TELL]))
    assert (effect.state, states(effect)) == ("done", [("send_urgent_message", "done")])
    assert bench.urgent()[1:] == ["Crew says: on the way"]


@pytest.mark.requirement("T24")
def test_an_agent_told_of_a_failure_is_told_when_the_retry_succeeds(
    bench: Bench, target: Target, model: ScriptedModel
) -> None:
    """Also for a tool that is otherwise silent."""
    target.answers(Answers(body="on the way"))
    fails_and_runs_again(bench, model, webhook(target.url, body=NAMED))
    assert bench.urgent()[1:] == ["on the way"]


@pytest.mark.parametrize("fault", ["404", "500"])
def test_an_unavailable_model_fails_only_the_after_action(
    fault: str, bench: Bench, target: Target, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else fails, neither at once nor after the last attempt."""
    monkeypatch.setattr(outages, "MODEL_PATIENCE", timedelta(0))
    model.script("arguments", times=0, fault=fault)
    asked = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}
    made = {"type": "set_persona_attribute", "options": {"attribute": "x", "instruction": "The number."}}
    effect = notify(bench, target, made, asked)
    assert effect.state == "done"
    assert states(effect) == [("set_persona_attribute", "failed"), ("send_urgent_message", "done")]


@pytest.mark.requirement("N47")
def test_a_model_that_recovers_still_makes_the_value(bench: Bench, target: Target, model: ScriptedModel) -> None:
    """The action is not repeated for it."""
    target.answers(Answers(body='{"total": 42.5}'))
    model.script("arguments", times=3, fault="500")
    made = {"type": "set_persona_attribute", "options": {"attribute": "total", "instruction": "The total amount."}}
    effect = notify(bench, target, made)
    assert (states(effect), len(target.log)) == ([("set_persona_attribute", "done")], 1)
