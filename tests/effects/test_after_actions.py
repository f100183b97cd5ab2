"""After-actions: in order, each once, each with a status of its own (N21, E8)."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.models import PersonaField, PromptSection
from tests.effects.conftest import Bench, webhook
from tests.effects.target import Answers, Target
from tests.processes import ScriptedModel
from tools.models import Effect

TELL = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}


def states(effect: Effect) -> list[tuple[str, str]]:
    return [(row.type, row.state) for row in effect.after_actions.all()]


def notify(bench: Bench, target: Target, *after_actions: dict[str, Any], **options: Any) -> Effect:
    bench.tool("notify", webhook(target.url, after_actions=list(after_actions), **options))
    return bench.carry_out("notify")


def test_an_urgent_message_has_its_prefix(bench: Bench, target: Target) -> None:
    """N46: injected as `prefix: text`, once."""
    target.answers(Answers(body='{"eta": "7 pm"}'))
    effect = notify(bench, target, TELL)
    assert states(effect) == [("send_urgent_message", "done")]
    assert bench.urgent() == ['Crew says: {"eta": "7 pm"}']


def test_an_urgent_message_without_a_prefix(bench: Bench, target: Target) -> None:
    target.answers(Answers(body="on the way"))
    notify(bench, target, {"type": "send_urgent_message"})
    assert bench.urgent() == ["on the way"]


def test_a_persona_attribute_is_set_from_a_part_of_the_response(bench: Bench, target: Target) -> None:
    """N47, T21: the result comes in by an attribute. Raw and processed are both kept; here they are the same."""
    target.answers(Answers(body='{"loyalty": {"level": "gold"}}'))
    options = {"attribute": "loyalty", "path": "loyalty.level"}
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": options})
    [row] = effect.after_actions.all()
    assert (row.state, row.raw, row.value) == ("done", "gold", "gold")
    with bench.tenant.tx():
        assert PersonaField.objects.get(key="loyalty").value == "gold"


def test_a_model_may_work_on_the_value(bench: Bench, target: Target, model: ScriptedModel) -> None:
    """N47."""
    target.answers(Answers(body='{"total": 42.5, "currency": "EUR"}'))
    options = {"attribute": "order_total", "instruction": "The total amount, as a number."}
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": options})
    [row] = effect.after_actions.all()
    assert (row.raw, row.value) == ('{"total": 42.5, "currency": "EUR"}', "42.5")
    with bench.tenant.tx():
        assert PersonaField.objects.get(key="order_total").value == "42.5"


def test_a_prompt_section_is_set(bench: Bench, target: Target) -> None:
    """N48: by a system event; the next prompt shows it."""
    target.answers(Answers(body='{"delays": "Bus 44 is late."}'))
    options = {"section": "Delays", "path": "delays"}
    notify(bench, target, {"type": "set_prompt_section", "options": options})
    with bench.tenant.tx():
        assert PromptSection.objects.get(conversation=bench.conversation, name="Delays").content == "Bus 44 is late."
    [event] = bench.events("set_prompt_section")
    assert event["section"] == "Delays"


def test_they_run_in_order_and_one_that_fails_stops_none(bench: Bench, target: Target) -> None:
    """N21."""
    missing = {"type": "set_persona_attribute", "options": {"attribute": "level", "path": "no.such.part"}}
    fixed = {"type": "set_persona_attribute", "options": {"attribute": "vip", "value": "yes"}}
    effect = notify(bench, target, missing, fixed, TELL)
    rows = list(effect.after_actions.all())
    assert [row.state for row in rows] == ["failed", "done", "done"]
    assert rows[0].error == "The response has no no.such.part."
    assert rows[1].finished_at < rows[2].finished_at


@pytest.mark.parametrize("value", ["x" * 501, "a\u202eb", "\x07"])
def test_a_value_that_can_do_harm_is_refused(value: str, bench: Bench, target: Target) -> None:
    """Threat 10: it would stand in prompts and pages."""
    target.answers(Answers(body=value))
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": {"attribute": "note"}})
    assert states(effect) == [("set_persona_attribute", "failed")]


@pytest.mark.parametrize("answer", [Answers(body=""), Answers(204, body="")])
def test_they_are_skipped_where_the_response_is_empty(answer: Answers, bench: Bench, target: Target) -> None:
    """D7."""
    target.answers(answer)
    effect = notify(bench, target, TELL)
    assert (effect.state, states(effect), bench.urgent()) == ("done", [("send_urgent_message", "skipped")], [])


def test_they_are_skipped_where_the_action_failed(bench: Bench, target: Target) -> None:
    """E8: the agent is told of the failure, once."""
    target.answers(Answers(404))
    effect = notify(bench, target, TELL)
    assert states(effect) == [("send_urgent_message", "skipped")]
    assert bench.urgent() == ["notify was not done: The endpoint refused it (404)."]


def test_they_follow_an_urgent_message_too(bench: Bench) -> None:
    """D7."""
    fixed = {"type": "set_persona_attribute", "options": {"attribute": "vip", "value": "yes"}}
    definition = webhook("https://example.com/", after_actions=[fixed])
    bench.tool("remind", {**definition, "action": {"type": "send_urgent_message", "options": {"message": "Hi"}}})
    assert states(bench.carry_out("remind")) == [("set_persona_attribute", "done")]


def test_a_model_that_cannot_be_had_fails_the_after_action(bench: Bench, target: Target, model: ScriptedModel) -> None:
    """E8: and nothing else."""
    model.script("arguments", times=0, fault="404")
    asked = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}
    made = {"type": "set_persona_attribute", "options": {"attribute": "x", "instruction": "The number."}}
    effect = notify(bench, target, made, asked)
    assert effect.state == "done"
    assert states(effect) == [("set_persona_attribute", "failed"), ("send_urgent_message", "done")]
