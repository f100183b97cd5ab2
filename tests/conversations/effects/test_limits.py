"""Limits of the messages that a project sends in a day, and of those that anonymous visitors set off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone

from conversations.models import Conversation, PersonaField
from conversations.models.persona import Strength
from conversations.promises.make_good import draft_make_goods
from conversations.turns.services import give_fields
from projects.models import AuditEntry
from projects.records.attributes import set_attribute
from tests.conversations.conftest import Talk
from tests.conversations.effects.conftest import PHONE, Bench
from tests.conversations.widget.conftest import Placed, Visitor, place_widget
from tests.tools.messaging.conftest import connect_twilio
from tests.tools.messaging.twilio_server import TwilioServer
from todos.models import Todo
from tools.engine.limits.alerts import lift
from tools.engine.policy import POLICIES, policy_of
from tools.models import Effect, EffectState, LimitAlert, Promise

SETTING = "project_attributes_setting_"
VISITORS = 34


@pytest.fixture
def twilio() -> Iterator[TwilioServer]:
    with TwilioServer() as server:
        yield server


@dataclass
class Shop:
    """A business with a widget and a messaging service that counts what it is asked to send."""

    bench: Bench
    placed: Placed
    twilio: TwilioServer

    def visitor(self, address: str, phone: str) -> Bench:
        """An anonymous visitor who has given a phone number."""
        visitor = Visitor(self.placed, client=Client(REMOTE_ADDR=address))
        visitor.open()
        begun = visitor.say(f"Please text me, my number is {phone}").json()["conversation"]
        with self.bench.tenant.tx():
            conversation = Conversation.objects.get(pk=begun)
            PersonaField.objects.create(
                persona_id=conversation.persona_id, key="phone", value=phone, strength=Strength.STATED
            )
        return replace(self.bench, talk=Talk(self.bench.tenant, conversation))

    def text_all(self, visitors: Sequence[Bench]) -> list[Effect]:
        """Each visitor is promised a text at the same time."""
        planned = [effect for visitor in visitors for effect in visitor.plan("send_sms_tool", quote="I'll text you.")]
        self.bench.run()
        return [self.bench.effect(effect) for effect in planned]


@pytest.fixture
def texting(bench: Bench) -> Bench:
    """A customer whose number the business knows, and text messages enabled."""
    bench.switch_on("sms_send_information_enabled", "booking_manage_url_enabled")
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, {"phone": PHONE})
    return bench


@pytest.fixture
def shop(texting: Bench, twilio: TwilioServer) -> Shop:
    connect_twilio(texting.tenant, twilio.url)
    return Shop(texting, place_widget(texting.tenant), twilio)


def number(index: int) -> str:
    return f"+39347555{index:04}"


def sent(effects: Sequence[Effect]) -> list[Effect]:
    return [effect for effect in effects if effect.state in (EffectState.DONE, EffectState.UNKNOWN)]


def test_thirty_four_anonymous_visitors_cannot_send_thirty_four_texts(shop: Shop) -> None:
    effects = shop.text_all([shop.visitor(f"203.0.{index}.7", number(index)) for index in range(VISITORS)])
    assert len(sent(effects)) == len(shop.twilio.script.calls) == policy_of("sms").max_from_visitors
    assert {effect.error for effect in effects if effect.state == "failed"} == {
        "The limit of 10 text messages to anonymous visitors in ten minutes is reached. Staff can lift it under Limits."
    }


def test_one_address_range_gets_half_of_what_visitors_may_send(shop: Shop) -> None:
    effects = shop.text_all([shop.visitor(f"203.0.113.{index}", number(index)) for index in range(8)])
    assert len(sent(effects)) == 5


def test_visitors_in_six_countries_are_texted_in_the_businesss_own_only(shop: Shop) -> None:
    """The business is in Italy. A premium number is refused there as well."""
    numbers = ["+393475550142", "+447911123456", "+4915112345678", "+33612345678", "+12025550123", "+39899123456"]
    effects = shop.text_all([shop.visitor(f"203.0.{index}.7", phone) for index, phone in enumerate(numbers)])
    assert [effect.state for effect in effects] == ["done", *["failed"] * 5]
    assert len(shop.twilio.script.calls) == 1


def test_a_customer_whom_the_business_knows_is_not_limited_as_a_visitor(shop: Shop) -> None:
    visitor = shop.visitor("203.0.113.1", number(1))
    with shop.bench.tenant.tx():
        set_attribute(shop.bench.tenant.project, f"{SETTING}sms_visitor_limit", 0)
        give_fields(visitor.talk.reload().persona, {"phone": number(1)})
    [effect] = shop.text_all([visitor])
    assert (effect.state, effect.visitor) == ("done", "")


def test_a_projects_texts_of_a_day_are_limited(texting: Bench) -> None:
    [effect] = texting.plan("send_sms_tool")
    earlier(texting, effect, POLICIES["sms"].max_per_project)
    texting.run()
    found = texting.effect(effect)
    assert (found.state, found.attempts) == ("failed", 0)
    assert found.told == "It wasn't done: the business's limit for this is reached. A colleague has been told."


@pytest.mark.parametrize(
    ("kind", "tool", "setting"),
    [
        ("sms", "send_sms_tool", "sms_daily_limit"),
        ("email", "send_email_tool", "email_daily_limit"),
        ("sms", "send_sms_tool", "sms_recipient_limit"),
    ],
)
def test_a_setting_of_the_project_replaces_the_limit(kind: str, tool: str, setting: str, texting: Bench) -> None:
    texting.switch_on("email_send_information_enabled")
    with texting.tenant.tx():
        give_fields(texting.talk.reload().persona, {"email": "anna@example.com"})
        set_attribute(texting.tenant.project, f"{SETTING}{setting}", 0)
    assert texting.execute(tool).state == "failed"


def test_effects_of_the_day_before_do_not_count(texting: Bench) -> None:
    [effect] = texting.plan("send_sms_tool")
    earlier(texting, effect, 200, started_at=timezone.now() - timedelta(hours=25))
    texting.run()
    assert texting.effect(effect).state == "done"


def test_concurrent_conversations_share_a_projects_limit(shop: Shop) -> None:
    with shop.bench.tenant.tx():
        set_attribute(shop.bench.tenant.project, f"{SETTING}sms_daily_limit", 3)
    visitors = [shop.visitor(f"203.0.{index}.7", number(index)) for index in range(12)]
    assert len(sent(shop.text_all(visitors))) == len(shop.twilio.script.calls) == 3


def test_the_promise_of_a_text_over_the_limit_is_broken_and_made_good(texting: Bench) -> None:
    with texting.tenant.tx():
        set_attribute(texting.tenant.project, f"{SETTING}sms_daily_limit", 0)
    texting.execute("send_sms_tool")
    draft_make_goods()
    texting.run("make_good")
    with texting.tenant.tx():
        assert Promise.objects.get().state == "broken"
        assert Todo.objects.filter(conversation_id=texting.conversation.pk).exists()


def test_half_of_a_limit_and_the_whole_alert_staff_once(texting: Bench) -> None:
    limit(texting, 4)
    for index in range(6):
        text(texting, index)
    assert alerts(texting) == [(True, 4), (False, 2)]


def test_a_lifted_limit_allows_as_many_again(texting: Bench) -> None:
    limit(texting, 1)
    states = [text(texting, 0), text(texting, 1)]
    with texting.tenant.tx():
        lift(LimitAlert.objects.select_related("project").get(is_reached=True), by=texting.tenant.owner)
    assert [*states, text(texting, 2), text(texting, 3)] == ["done", "failed", "done", "failed"]


def test_lifting_a_limit_is_in_the_audit_log(texting: Bench) -> None:
    limit(texting, 0)
    text(texting, 0)
    with texting.tenant.tx():
        lift(LimitAlert.objects.select_related("project").get(), by=texting.tenant.owner)
        assert AuditEntry.objects.filter(action="limit.lifted", actor_id=texting.tenant.owner.pk).exists()


def test_a_lift_ends_after_a_day(texting: Bench) -> None:
    limit(texting, 1)
    states = [text(texting, 0), text(texting, 1)]
    with texting.tenant.tx():
        lift(LimitAlert.objects.select_related("project").get(is_reached=True), by=texting.tenant.owner)
        ago = timedelta(hours=25)
        LimitAlert.objects.update(lifted_at=F("lifted_at") - ago, created_at=F("created_at") - ago)
    assert [*states, text(texting, 2)] == ["done", "failed", "failed"]


def limit(bench: Bench, most: int) -> None:
    with bench.tenant.tx():
        set_attribute(bench.tenant.project, f"{SETTING}sms_daily_limit", most)


def text(bench: Bench, index: int) -> str:
    """Text another customer, and return the effect's state."""
    with bench.tenant.tx():
        give_fields(bench.talk.reload().persona, {"phone": number(index)})
    return str(bench.execute("send_sms_tool", hears=f"Please text me, {index}").state)


def alerts(bench: Bench) -> list[tuple[bool, int]]:
    with bench.tenant.tx():
        return list(LimitAlert.objects.values_list("is_reached", "used"))


def earlier(bench: Bench, like: Effect, count: int | None, **fields: object) -> None:
    """Texts that were sent today to others."""
    with bench.tenant.tx():
        Effect.objects.bulk_create(
            Effect(
                project_id=like.project_id,
                effect_key=f"earlier {index}",
                tool="x",
                kind=like.kind,
                delivery="once",
                definition={},
                state=EffectState.DONE,
                recipient=number(index),
                **{"started_at": timezone.now(), **fields},
            )
            for index in range(count or 0)
        )
