"""Repeats are held, and effects are limited per conversation and recipient."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.turns.services import give_fields
from jobs.models import Job
from projects.agents.services import create_project
from projects.records.attributes import set_attribute
from tenancy.ids import uuid7
from tests.conversations.effects.conftest import PHONE, Bench, begin, webhook
from tests.conversations.effects.target import Answers, Target
from tests.processes import ScriptedModel
from tools.builtin.create_meeting_tool import INTEGRATION
from tools.engine.execution.deduplication import find_duplicate, find_planned_duplicate, find_recent_duplicate
from tools.engine.execution.handler import Contact
from tools.engine.execution.limits import (
    recipient_of,
)
from tools.engine.policy import policy_of
from tools.models import Booking, Effect, EffectState
from tools.services.bookings.reservations import ReservationArguments
from tools.services.bookings.resources import create_resource

HOURS = "Could you text me the opening hours?"


@pytest.fixture
def texting(bench: Bench) -> Bench:
    """A customer with a known phone number, and text messages enabled."""
    bench.switch_on("sms_send_information_enabled", "booking_manage_url_enabled")
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, {"phone": PHONE})
    return bench


def test_a_repeated_promise_is_held(texting: Bench) -> None:
    """ "I'm sending it now" sends nothing twice; the agent reads that it was done already."""
    first = texting.execute("send_sms_tool", hears=HOURS)
    second = texting.execute("send_sms_tool", quote="I'm sending it now.")
    assert (first.state, second.state, second.repeats) == ("done", "held", first.pk)
    assert second.told.startswith("It was done already")
    assert texting.events("effect_held")[0]["id"] == str(second.pk)


def test_a_repeat_in_other_words_is_held(texting: Bench, model: ScriptedModel) -> None:
    """A model rephrases a text each time, and nobody asked for it since."""
    for words in ("We open at noon.", "From twelve o'clock."):
        model.script("arguments", json={"text": words})
    first = texting.execute("send_sms_tool", hears=HOURS)
    second = texting.execute("send_sms_tool", quote="I'm sending it now.")
    assert (first.state, second.state) == ("done", "held")


def test_a_different_text_the_customer_asked_for_is_not_a_repeat(texting: Bench) -> None:
    texting.execute("send_sms_tool", hears=HOURS)
    assert texting.execute("send_sms_tool", hears="Could you text me the address too?").state == "done"


def test_a_thank_you_in_between_does_not_allow_a_repeat(texting: Bench) -> None:
    """A message since then is not a request; the model is asked and says no."""
    texting.execute("send_sms_tool", hears=HOURS)
    texting.says("Thank you, is it on its way?")
    texting.says(HOURS.replace("Could you text me", "And"))
    second = texting.execute("send_sms_tool", quote="I'm sending it now.")
    assert second.state == "held"


def test_a_repeat_the_customer_asked_for_is_sent(texting: Bench) -> None:
    texting.execute("send_sms_tool", hears=HOURS)
    second = texting.execute("send_sms_tool", hears="It did not arrive. " + HOURS)
    assert second.state == "done"


def test_of_two_concurrent_repeats_one_is_held(texting: Bench) -> None:
    """Two turns' effects that begin at the same time; the conversation's lock lets one see the other."""
    texting.says(HOURS)
    effects = [*texting.plan("send_sms_tool"), *texting.plan("send_sms_tool")]
    texting.run()
    assert sorted(texting.effect(effect).state for effect in effects) == ["done", "held"]


def test_a_different_request_is_not_a_repeat(bench: Bench, target: Target) -> None:
    body = {"type": "object", "properties": {"zip": {"type": "string"}}}
    bench.tool("notify", webhook(target.url, body=body))
    first = bench.execute("notify", hears="My zip code is 00153.")
    second = bench.execute("notify", hears="Sorry, it is zip 10115.")
    assert (first.state, second.state, len(target.log)) == ("done", "done", 2)


def test_after_ten_minutes_a_request_is_not_a_repeat(bench: Bench, target: Target) -> None:
    bench.tool("notify", webhook(target.url))
    first = bench.execute("notify")
    with bench.tenant.tx():
        Effect.objects.filter(pk=first.pk).update(started_at="2026-01-01T00:00:00Z")
    assert bench.execute("notify").state == "done"


@pytest.mark.parametrize(("kind", "is_repeat"), [("booking", True), ("meeting", True), ("sms", False)])
def test_a_second_booking_within_a_day_is_a_repeat(kind: str, is_repeat: bool, texting: Bench) -> None:
    """Three hours after the first."""
    effects = [*texting.plan("send_sms_tool"), *texting.plan("send_sms_tool")]
    with texting.tenant.tx():
        Effect.objects.update(kind=kind, repeat_key="same")
        Effect.objects.filter(pk=effects[0].pk).update(state="done", started_at=timezone.now() - timedelta(hours=3))
        assert (find_recent_duplicate(Effect.objects.get(pk=effects[1].pk)) is not None) is is_repeat


def test_the_same_request_in_another_project_is_not_a_repeat(texting: Bench) -> None:
    """Also outside of conversations; two projects may have tools of the same name."""
    first, again, elsewhere = (texting.plan("send_sms_tool")[0] for _ in range(3))
    with texting.tenant.tx():
        other = create_project("Other", config=texting.tenant.project.agent_version.config)
        Effect.objects.update(conversation_id=None, turn_id=None, repeat_key="same")
        Effect.objects.filter(pk=first.pk).update(state="done", started_at=timezone.now())
        Effect.objects.filter(pk=elsewhere.pk).update(project_id=other.pk)
        assert find_duplicate(Effect.objects.get(pk=again.pk)) == first
        assert find_duplicate(Effect.objects.get(pk=elsewhere.pk)) is None


@pytest.mark.parametrize("is_one_breath", [True, False], ids=["in one answer", "in two"])
def test_a_booking_and_an_appointment_for_the_same_request_are_one(
    is_one_breath: bool, bench: Bench, model: ScriptedModel
) -> None:
    """Whichever tool books first, the other is not told that the doctor is taken."""
    bench.switch_on("booking_enabled")
    with bench.tenant.tx():
        set_attribute(bench.tenant.project, INTEGRATION, "google_integration")
        create_resource(bench.tenant.project, name="Dr. Weber", kind="person", capacity=1, slot_minutes=30)
    day = timezone.now().date() + timedelta(days=7)
    friday = day + timedelta(days=(4 - day.weekday()) % 7)
    said = {"date": friday.isoformat(), "time": "19:00", "with_whom": "Dr. Weber", "name": "Ada"}
    agreed = dict.fromkeys(ReservationArguments.model_fields) | said
    tools = ("create_booking_tool", "create_meeting_tool")
    for _ in tools:
        model.script("arguments", json=agreed)
    hears = "An appointment with Dr. Weber at seven, please."
    effects = bench.plan(*tools, hears=hears) if is_one_breath else [bench.execute(one, hears=hears) for one in tools]
    bench.run()
    assert sorted(bench.effect(effect).state for effect in effects) == ["done", "held"]
    with bench.tenant.tx():
        assert Booking.objects.count() == 1


def test_the_same_request_for_another_customer_is_not_a_repeat(bench: Bench, target: Target) -> None:
    """Repeats are detected within one conversation, even if the requests are equal."""
    bench.tool("notify", webhook(target.url))
    bench.execute("notify")
    bench.talk = begin(bench.tenant, external_id="another")
    assert (bench.execute("notify").state, len(target.log)) == ("done", 2)


def test_a_text_called_and_promised_in_the_same_turn_is_sent_once(texting: Bench) -> None:
    """By another tool of the same kind, in other words."""
    [promised] = texting.plan("send_sms_tool", hears=HOURS)
    with texting.tenant.tx():
        Effect.objects.create(
            project_id=promised.project_id,
            conversation_id=promised.conversation_id,
            turn_id=promised.turn_id,
            origin="turn",
            effect_key="called",
            tool="send_sms",
            kind="sms",
            delivery="once",
            definition={},
            state=EffectState.DONE,
            recipient=PHONE.removeprefix("+"),
            started_at=timezone.now(),
        )
    texting.run()
    assert texting.effect(promised).state == "held"


@pytest.mark.parametrize(("is_same_turn", "state"), [(True, "held"), (False, "done")])
def test_a_tool_called_and_promised_in_one_turn_acts_once(
    is_same_turn: bool, state: str, bench: Bench, target: Target
) -> None:
    """Even if the promise reads other arguments than the call had."""
    bench.tool("notify", webhook(target.url))
    [called], [promised] = bench.plan("notify"), bench.plan("notify")
    with bench.tenant.tx():
        ended = {"origin": "turn", "state": "done", "repeat_key": "other arguments", "started_at": timezone.now()}
        turn_id = promised.turn_id if is_same_turn else called.turn_id
        Effect.objects.filter(pk=called.pk).update(turn_id=turn_id, **ended)
    bench.run()
    assert bench.effect(promised).state == state


@pytest.mark.parametrize(
    ("hours", "keys", "is_repeat"),
    [(0, ("one", "other"), True), (3, ("one", "other"), False), (3, ("one", "one"), True)],
    ids=["similar and recent", "similar and old", "identical and old"],
)
def test_a_text_that_awaits_approval_has_repeats_for_ten_minutes(
    hours: int, keys: tuple[str, str], is_repeat: bool, texting: Bench
) -> None:
    """An identical one is a repeat at any age."""
    first, second = (texting.plan("send_sms_tool")[0] for _ in range(2))
    with texting.tenant.tx():
        for effect, key in zip((first, second), keys, strict=True):
            Effect.objects.filter(pk=effect.pk).update(repeat_key=key, recipient="39347")
        Effect.objects.filter(pk=first.pk).update(created_at=timezone.now() - timedelta(hours=hours))
        found = find_planned_duplicate(Effect.objects.get(pk=second.pk), among=[first.pk])
    assert found == (first if is_repeat else None)


def test_a_failed_effect_may_be_promised_again(bench: Bench, target: Target) -> None:
    target.answers(Answers(404), Answers(200))
    bench.tool("notify", webhook(target.url))
    assert bench.execute("notify").state == "failed"
    assert bench.execute("notify").state == "done"


def test_an_effect_that_may_have_happened_is_not_sent_again(bench: Bench, target: Target) -> None:
    target.answers(Answers(500), Answers(200))
    bench.tool("notify", webhook(target.url))
    assert bench.execute("notify").state == "unknown"
    second = bench.execute("notify")
    assert (second.state, len(target.log)) == ("held", 1)
    assert "isn't known yet" in second.told


def test_a_lookup_is_never_a_repeat(bench: Bench, target: Target) -> None:
    bench.tool("look_up", webhook(target.url, method="GET"))
    bench.execute("look_up")
    assert bench.execute("look_up").state == "done"
    assert [heard.method for heard in target.log] == ["GET", "GET"]


def test_effects_per_conversation_and_day_are_limited(texting: Bench) -> None:
    [effect] = texting.plan("send_sms_tool")
    fill(texting, effect, policy_of("sms").max_per_conversation, conversation_id=texting.conversation.pk)
    texting.run()
    found = texting.effect(effect)
    assert found.state == "failed"
    assert "limit" in found.error


def test_lookups_do_not_count_toward_the_limit(bench: Bench, target: Target) -> None:
    bench.tool("look_up", webhook(target.url, method="GET"))
    [effect] = bench.plan("look_up")
    fill(bench, effect, policy_of("webhook").max_per_conversation, conversation_id=bench.conversation.pk)
    bench.run()
    assert bench.effect(effect).state == "done"


def test_recipients_are_compared_in_normalized_form() -> None:
    contact = Contact(persona_id=uuid7(), phone="+39 347 555-0142", email=" Giulia@Example.com ")
    assert [recipient_of(kind, contact) for kind in ("sms", "email")] == ["393475550142", "giulia@example.com"]


def test_effects_per_recipient_and_day_are_limited(texting: Bench) -> None:
    """Over all conversations, whoever claims the number."""
    [effect] = texting.plan("send_sms_tool")
    fill(texting, effect, policy_of("sms").max_per_recipient, recipient=PHONE.removeprefix("+"))
    texting.run()
    assert "recipient" in texting.effect(effect).error


@pytest.mark.parametrize(("hours", "state"), [(23, "failed"), (25, "done")])
def test_the_limits_count_the_effects_of_one_day(hours: int, state: str, texting: Bench) -> None:
    [effect] = texting.plan("send_sms_tool")
    started_at = timezone.now() - timedelta(hours=hours)
    fill(texting, effect, policy_of("sms").max_per_recipient, recipient=PHONE.removeprefix("+"), started_at=started_at)
    texting.run()
    assert texting.effect(effect).state == state


def fill(bench: Bench, like: Effect, count: int, **fields: object) -> None:
    with bench.tenant.tx():
        now = Job.objects.values_list("created_at", flat=True).last()
        Effect.objects.bulk_create(
            Effect(
                project_id=like.project_id,
                effect_key=f"filler {number}",
                tool="x",
                kind=like.kind,
                delivery="once",
                definition={},
                state=EffectState.DONE,
                **{"started_at": now, **fields},
            )
            for number in range(count)
        )


def test_a_text_and_a_booking_link_count_as_one_kind(texting: Bench) -> None:
    """send_sms_tool and send_manage_booking_url_tool text the same customer; kinds are compared, not tools."""
    with texting.tenant.tx():
        assert not Booking.objects.exists()
    [text, link] = texting.plan("send_sms_tool", "send_manage_booking_url_tool")
    assert text.kind == link.kind == "sms"
