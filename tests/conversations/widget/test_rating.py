"""Ratings of conversations: by the widget's visitors, on the portal and through the API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.inbox.closing import close
from conversations.live.event_log import open_log
from conversations.models import Channel, Conversation, Event, Message, MessageRole
from conversations.models.event import EventType
from conversations.portal.session import PortalTarget
from conversations.turns.services import post_message, start_conversation
from projects.agents.services import save_agent
from projects.models.agent_config import AgentConfig
from tests.conftest import Tenant
from tests.conversations.widget.conftest import Visitor, refusal
from tools.services.signed_links import portal_token

ASKS = 'id="rate">'


def answer(row: Conversation, words: str = "At seven.") -> None:
    with open_log(row.pk) as log:
        log.add_message(MessageRole.AGENT, words, turn=None, idn="agent_message")


@pytest.fixture
def visited(visitor: Visitor) -> Conversation:
    """The visitor's conversation, with an answer."""
    visitor.say("When do you open?")
    with visitor.placed.tenant.tx():
        row = Conversation.objects.get()
        answer(row)
    return row


def rate(visitor: Visitor, **given: Any) -> Any:
    return visitor.ask("POST", "rating", {"score": 4, **given})


def stored(visitor: Visitor) -> Conversation:
    with visitor.placed.tenant.tx():
        return Conversation.objects.get()


def test_a_visitor_rates_their_conversation(visitor: Visitor, visited: Conversation) -> None:
    rating = rate(visitor, comment="Quick!").json()["rating"]
    assert (rating["score"], rating["comment"], rating["message"]) == (4, "Quick!", 2)
    assert (stored(visitor).rating, stored(visitor).rating_comment) == (4, "Quick!")


def test_a_later_rating_replaces_the_earlier_one(visitor: Visitor, visited: Conversation) -> None:
    rate(visitor, score=5)
    rate(visitor, score=1, comment="It was wrong.")
    assert (stored(visitor).rating, stored(visitor).rating_comment) == (1, "It was wrong.")


def test_a_repeated_rating_is_one_entry_of_the_log(visitor: Visitor, visited: Conversation) -> None:
    rate(visitor)
    rate(visitor)
    with visitor.placed.tenant.tx():
        assert Event.objects.filter(idn="conversation_rated").count() == 1


def test_a_rating_does_not_move_the_conversation_up(visitor: Visitor, visited: Conversation) -> None:
    before = stored(visitor).updated_at
    rate(visitor)
    assert stored(visitor).updated_at == before


@pytest.mark.parametrize("score", [0, 6, "5", None, 4.5])
def test_a_score_outside_one_to_five_is_refused(visitor: Visitor, visited: Conversation, score: object) -> None:
    refused = rate(visitor, score=score)
    assert refused.status_code == 400
    assert refused.json()["error"]["field"] == "score"
    assert stored(visitor).rating is None


def test_a_conversation_without_an_answer_has_nothing_to_rate(visitor: Visitor) -> None:
    assert refusal(rate(visitor), 404) == "no_conversation"
    visitor.say("Hello?")
    assert refusal(rate(visitor), 409) == "wrong_state"


def test_a_visitor_rates_only_their_own_conversation(visitor: Visitor, visited: Conversation) -> None:
    other = Visitor(visitor.placed)
    other.open()
    assert refusal(rate(other), 404) == "no_conversation"
    assert stored(visitor).rating is None


def test_closing_a_conversation_tells_open_pages_that_it_is_over(visitor: Visitor, visited: Conversation) -> None:
    """And a message of the customer that it goes on."""
    tenant = visitor.placed.tenant
    with tenant.tx():
        close(visited.pk, by=tenant.owner)
    visitor.say("One more thing.")
    with tenant.tx():
        told = Event.objects.filter(type=EventType.OVER).order_by("seq").values_list("payload", flat=True)
        assert [payload["over"] for payload in told] == [True, False]


def test_the_session_says_whether_ratings_are_asked_for(visitor: Visitor) -> None:
    assert visitor.open().json()["agent"]["ratings"] is True
    ask_for_ratings(visitor.placed.tenant, False)
    assert visitor.open().json()["agent"]["ratings"] is False


def ask_for_ratings(tenant: Tenant, asks: bool) -> None:
    with tenant.tx():
        document = {**tenant.project.agent_version.document, "ask_for_ratings": asks}  # type: ignore[union-attr]
        save_agent(tenant.project, config=AgentConfig.model_validate(document), author=tenant.owner)


@pytest.fixture
def portal(tenant: Tenant) -> tuple[Conversation, str]:
    """A chat on the portal with an answer, and the page's address."""
    with tenant.tx():
        row = start_conversation(
            tenant.project, channel=Channel.PORTAL, external_id="ada", known={}, metadata={"via": "portal"}
        )
        post_message(row.pk, "When do you open?")
        answer(row)
    place = PortalTarget(tenant.organization.pk, row.persona_id)
    return row, f"/c/{portal_token(place, until=40_000)}"


def test_the_portal_asks_once_the_chat_is_over(
    portal: tuple[Conversation, str], client: Client, tenant: Tenant
) -> None:
    row, address = portal
    assert ASKS not in client.get(address).content.decode()
    with tenant.tx():
        close(row.pk, by=tenant.owner)
    assert ASKS in client.get(address).content.decode()


def test_the_portal_asks_after_an_hour_of_silence(
    portal: tuple[Conversation, str], client: Client, tenant: Tenant
) -> None:
    with tenant.tx():
        Message.objects.update(created_at=timezone.now() - timedelta(hours=2))
    assert ASKS in client.get(portal[1]).content.decode()


def test_a_plain_form_rates_the_chat(portal: tuple[Conversation, str], client: Client, tenant: Tenant) -> None:
    """And the page stops asking. A rating that was changed back counts."""
    row, address = portal
    with tenant.tx():
        close(row.pk, by=tenant.owner)
    for score in ("4", "5", "4"):
        thanked = client.post(address, {"score": score, "comment": "Nice."}, follow=True).content.decode()
    assert "Thanks for your rating." in thanked
    assert ASKS not in thanked
    with tenant.tx():
        row.refresh_from_db()
    assert (row.rating, row.rating_comment) == (4, "Nice.")


def test_the_portal_says_what_is_wrong_with_a_rating(
    portal: tuple[Conversation, str], client: Client, tenant: Tenant
) -> None:
    for posted, sentence in (
        ({"score": "9"}, "Choose one to five stars."),
        ({"score": "4", "comment": "x" * 1001}, "Too long: 1,001 of 1,000 characters."),
    ):
        refused = client.post(portal[1], posted, headers={"Accept": "application/json"})
        assert refused.status_code in (400, 422)
        assert sentence in refused.json()["error"]["message"]


def test_a_portal_without_the_setting_never_asks(
    portal: tuple[Conversation, str], client: Client, tenant: Tenant
) -> None:
    row, address = portal
    ask_for_ratings(tenant, False)
    with tenant.tx():
        close(row.pk, by=tenant.owner)
    assert 'id="rate"' not in client.get(address).content.decode()
