"""After-actions: in order, each once, each with a status of its own."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.common.contacts import read_contact
from conversations.models import PersonaField, PromptSection
from conversations.turns.services import give_fields
from jobs.models import Job
from jobs.services import run_again
from tests.conversations.effects.conftest import Bench, webhook
from tests.conversations.effects.target import Answers, Target
from tests.processes import ScriptedModel
from tools.models import Effect

TELL = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}


def states(effect: Effect) -> list[tuple[str, str]]:
    return [(row.type, row.state) for row in effect.after_actions.all()]


def notify(bench: Bench, target: Target, *after_actions: dict[str, Any], **options: Any) -> Effect:
    bench.tool("notify", webhook(target.url, after_actions=list(after_actions), **options))
    return bench.execute("notify")


@pytest.mark.requirement("N46")
def test_an_urgent_message_has_its_prefix(bench: Bench, target: Target) -> None:
    """Injected as `prefix: text`, once."""
    target.answers(Answers(body='{"eta": "7 pm"}'))
    effect = notify(bench, target, TELL)
    assert states(effect) == [("send_urgent_message", "done")]
    assert bench.urgent() == ['Crew says: {"eta": "7 pm"}']


def test_an_urgent_message_without_a_prefix(bench: Bench, target: Target) -> None:
    target.answers(Answers(body="on the way"))
    notify(bench, target, {"type": "send_urgent_message"})
    assert bench.urgent() == ["on the way"]


@pytest.mark.requirement("N47", "T21")
def test_a_persona_attribute_is_set_from_a_part_of_the_response(bench: Bench, target: Target) -> None:
    """The result comes in by an attribute. Raw and processed are both kept; here they are the same."""
    target.answers(Answers(body='{"loyalty": {"level": "gold"}}'))
    options = {"attribute": "loyalty", "path": "loyalty.level"}
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": options})
    [row] = effect.after_actions.all()
    assert (row.state, row.raw, row.value) == ("done", "gold", "gold")
    with bench.tenant.tx():
        assert PersonaField.objects.get(key="loyalty").value == "gold"


@pytest.mark.requirement("N47")
def test_a_model_may_work_on_the_value(bench: Bench, target: Target, model: ScriptedModel) -> None:
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
def test_what_a_customer_is_reached_by_is_kept_in_its_form(
    attribute: str, answer: str, kept: str, bench: Bench, target: Target
) -> None:
    """A number that no text could be sent to is refused, visibly."""
    target.answers(Answers(body=answer))
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": {"attribute": attribute}})
    assert states(effect) == [("set_persona_attribute", "done" if kept else "failed")]
    with bench.tenant.tx():
        found = list(PersonaField.objects.filter(key=attribute).values_list("value", flat=True))
    assert found == ([kept] if kept else [])


@pytest.mark.requirement("N47")
@pytest.mark.parametrize(("given", "kept"), [({}, "+393475550142"), ({"phone": "+393470000001"}, "+393470000001")])
def test_a_number_that_a_model_read_is_not_on_file(
    given: dict[str, str], kept: str, bench: Bench, target: Target, model: ScriptedModel
) -> None:
    """It replaces nothing that staff wrote down, and no code is sent to it."""
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
def test_a_prompt_section_is_set(bench: Bench, target: Target) -> None:
    """By a system event; the next prompt shows it."""
    target.answers(Answers(body='{"delays": "Bus 44 is late."}'))
    options = {"section": "Delays", "path": "delays"}
    notify(bench, target, {"type": "set_prompt_section", "options": options})
    with bench.tenant.tx():
        assert PromptSection.objects.get(conversation=bench.conversation, name="Delays").content == "Bus 44 is late."
    [event] = bench.events("set_prompt_section")
    assert event["section"] == "Delays"


@pytest.mark.requirement("N21")
def test_they_run_in_order_and_one_that_fails_stops_none(bench: Bench, target: Target) -> None:
    missing = {"type": "set_persona_attribute", "options": {"attribute": "level", "path": "no.such.part"}}
    fixed = {"type": "set_persona_attribute", "options": {"attribute": "vip", "value": "yes"}}
    effect = notify(bench, target, missing, fixed, TELL)
    rows = list(effect.after_actions.all())
    assert [row.state for row in rows] == ["failed", "done", "done"]
    assert (rows[0].error, rows[1].value) == ("The response has no no.such.part.", "yes")
    assert rows[1].finished_at < rows[2].finished_at


@pytest.mark.requirement("N47")
@pytest.mark.parametrize("step", ["2", "-1", "\u00b9"])
def test_a_part_of_a_list_that_is_not_there_is_named(step: str, bench: Bench, target: Target) -> None:
    """Also where a sign only looks like a number."""
    target.answers(Answers(body='{"levels": ["silver", "gold"]}'))
    options = {"attribute": "loyalty", "path": f"levels.{step}"}
    [row] = notify(bench, target, {"type": "set_persona_attribute", "options": options}).after_actions.all()
    assert (row.state, row.error) == ("failed", f"The response has no levels.{step}.")


@pytest.mark.parametrize("value", ["x" * 501, "a\u202eb", "\x07"])
def test_a_value_that_can_do_harm_is_refused(value: str, bench: Bench, target: Target) -> None:
    """It would stand in prompts and pages."""
    target.answers(Answers(body=value))
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": {"attribute": "note"}})
    assert states(effect) == [("set_persona_attribute", "failed")]


@pytest.mark.requirement("N21")
@pytest.mark.parametrize("answer", [Answers(body=""), Answers(204, body="")])
def test_they_are_skipped_where_the_response_is_empty(answer: Answers, bench: Bench, target: Target) -> None:
    target.answers(answer)
    effect = notify(bench, target, TELL)
    assert (effect.state, states(effect), bench.urgent()) == ("done", [("send_urgent_message", "skipped")], [])


def test_they_are_skipped_where_the_action_failed(bench: Bench, target: Target) -> None:
    """The agent is told of the failure, once."""
    target.answers(Answers(404))
    effect = notify(bench, target, TELL)
    assert states(effect) == [("send_urgent_message", "skipped")]
    assert bench.urgent() == ["notify was not done: The endpoint refused it (404)."]


@pytest.mark.requirement("N21")
def test_they_follow_an_urgent_message_too(bench: Bench) -> None:
    fixed = {"type": "set_persona_attribute", "options": {"attribute": "vip", "value": "yes"}}
    definition = webhook("https://example.com/", after_actions=[fixed])
    bench.tool("remind", {**definition, "action": {"type": "send_urgent_message", "options": {"message": "Hi"}}})
    assert states(bench.execute("remind")) == [("set_persona_attribute", "done")]


@pytest.mark.requirement("N20", "N46")
@pytest.mark.parametrize(
    ("after", "told"),
    [({"message": "Ask for the address."}, ["Hi", "Ask for the address."]), ({"prefix": "Desk"}, ["Desk: Hi"])],
)
def test_a_message_that_follows_a_message_takes_nothing_from_it(
    after: dict[str, str], told: list[str], bench: Bench
) -> None:
    """The action's own words are told too; a prefix alone is put before them."""
    follows = {"type": "send_urgent_message", "options": after}
    definition = webhook("https://example.com/", after_actions=[follows])
    bench.tool("remind", {**definition, "action": {"type": "send_urgent_message", "options": {"message": "Hi"}}})
    bench.execute("remind")
    assert bench.urgent() == told


@pytest.mark.requirement("N47")
def test_what_the_endpoint_knows_nothing_of_is_no_value(bench: Bench, target: Target) -> None:
    """A customer whose level is null isn't one of the level "null"."""
    target.answers(Answers(body='{"loyalty": {"level": null}}'))
    options = {"attribute": "loyalty", "path": "loyalty.level"}
    effect = notify(bench, target, {"type": "set_persona_attribute", "options": options})
    assert [(row.state, row.error) for row in effect.after_actions.all()] == [
        ("failed", "The response has no loyalty.level.")
    ]


def fails_and_runs_again(bench: Bench, model: ScriptedModel, definition: dict[str, Any]) -> Effect:
    """An effect whose arguments could not be had, and whose job staff runs again."""
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
def test_what_a_failure_left_out_follows_when_it_is_run_again(
    bench: Bench, target: Target, model: ScriptedModel
) -> None:
    target.answers(Answers(body="on the way"))
    effect = fails_and_runs_again(bench, model, webhook(target.url, body=NAMED, after_actions=[TELL]))
    assert (effect.state, states(effect)) == ("done", [("send_urgent_message", "done")])
    assert bench.urgent()[1:] == ["Crew says: on the way"]


@pytest.mark.requirement("T24")
def test_who_was_told_that_it_failed_hears_that_it_was_done(bench: Bench, target: Target, model: ScriptedModel) -> None:
    """Also of a tool that tells nothing by itself."""
    target.answers(Answers(body="on the way"))
    fails_and_runs_again(bench, model, webhook(target.url, body=NAMED))
    assert bench.urgent()[1:] == ["on the way"]


@pytest.mark.parametrize("fault", ["404", "500"])
def test_a_model_that_cannot_be_had_fails_the_after_action(
    fault: str, bench: Bench, target: Target, model: ScriptedModel
) -> None:
    """Nothing else fails, neither at once nor after the last attempt."""
    model.script("arguments", times=0, fault=fault)
    asked = {"type": "send_urgent_message", "options": {"prefix": "Crew says"}}
    made = {"type": "set_persona_attribute", "options": {"attribute": "x", "instruction": "The number."}}
    effect = notify(bench, target, made, asked)
    assert effect.state == "done"
    assert states(effect) == [("set_persona_attribute", "failed"), ("send_urgent_message", "done")]


@pytest.mark.requirement("N47")
def test_a_model_that_comes_back_makes_the_value(bench: Bench, target: Target, model: ScriptedModel) -> None:
    """The action isn't repeated for it."""
    target.answers(Answers(body='{"total": 42.5}'))
    model.script("arguments", times=3, fault="500")
    made = {"type": "set_persona_attribute", "options": {"attribute": "total", "instruction": "The total amount."}}
    effect = notify(bench, target, made)
    assert (states(effect), len(target.log)) == ([("set_persona_attribute", "done")], 1)
