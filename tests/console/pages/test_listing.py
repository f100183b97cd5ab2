"""The list of conversations, one of them, and taking its flag down."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from console import search
from console.inbox.conversation import snooze_choices
from conversations.live.event_log import open_log
from conversations.models import ConsentChange, Conversation, Directives, Event, PersonaField, Turn
from conversations.models.persona import Strength
from conversations.prompts.observer import Quality
from conversations.turns.flags import broken_claim, clear_flag, store_quality
from tests.conftest import Tenant
from tests.console.pages.conftest import browser, talk

ALL = {"view": "all"}
UNFLAG = {"do": "unflag"}


def list_url(tenant: Tenant) -> str:
    return reverse("inbox", args=[tenant.project.slug])


def one_url(tenant: Tenant, row: Conversation) -> str:
    return reverse("conversation", args=[tenant.project.slug, row.pk])


@pytest.mark.parametrize("day", [29, 30])
def test_no_two_times_to_snooze_until_are_the_same(day: int) -> None:
    """On a Sunday, Monday is tomorrow; on a Monday, the next is in a week."""
    times = [one["iso"] for one in snooze_choices(datetime(2026, 11, day, 8, tzinfo=UTC), zone="UTC")]
    assert len(times) == len(set(times)) == 3


def test_an_empty_list_suggests_the_next_step(owner: Client, tenant: Tenant) -> None:
    assert "No conversations yet" in owner.get(list_url(tenant)).content.decode()


def test_a_row_shows_the_customers_last_words(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "First", "And the last words", name="Giulia Ferri")
    (row,) = owner.get(list_url(tenant), ALL).context["rows"]
    assert (row.name, row.initials, row.speaker) == ("Giulia Ferri", "GF", "")
    assert (row.text, row.pieces) == ("And the last words", ())


def test_recent_activity_is_marked_in_every_language(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi")
    talk(tenant, "Hello", at=timezone.now() - timedelta(minutes=3), guest="earlier")
    rows = owner.get(list_url(tenant), ALL, headers={"Accept-Language": "de"}).context["rows"]
    assert [row.is_live for row in rows] == [True, False]


def test_the_number_of_queries_does_not_grow_with_the_rows(owner: Client, tenant: Tenant) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            owner.get(list_url(tenant), ALL)
        return len(queries)

    talk(tenant, "Hi", name="Giulia")
    one = count()
    for number in range(5):
        talk(tenant, "Hi", guest=str(number), name="Jonas")
    assert count() == one


def test_the_next_page_continues_where_this_one_ends(
    owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "PAGE", 2)
    now = timezone.now()
    for number in range(3):
        talk(tenant, f"words {number}", at=now - timedelta(minutes=number), guest=str(number))
    first = owner.get(list_url(tenant), ALL)
    second = owner.get(list_url(tenant) + first.context["next"])
    shown = [row.text for page in (first, second) for row in page.context["rows"]]
    assert shown == ["words 0", "words 1", "words 2"]
    assert second.context["next"] == ""


@pytest.mark.parametrize("query", ["channel=fax", "status=lost", "flagged=yes"])
def test_an_unknown_value_of_a_filter_is_refused(query: str, owner: Client, tenant: Tenant) -> None:
    response = owner.get(f"{list_url(tenant)}?view=all&{query}")
    assert response.status_code == 400


@pytest.mark.parametrize("query", ["after=x", "after=%00", "before=x", "q=%00", "after=eCB5"])
def test_an_invalid_query_string_shows_the_list(query: str, owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi")
    response = owner.get(f"{list_url(tenant)}?view=all&{query}")
    assert (response.status_code, len(response.context["rows"])) == (200, 1)


def test_a_search_shows_the_customer_and_marks_the_words(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "A table for two", name="Table Mountain")
    response = owner.get(list_url(tenant), {"q": "table"})
    assert [row.name for row in response.context["people_found"]] == ["Table Mountain"]
    (hit,) = response.context["rows"]
    assert [(piece.text, piece.is_marked) for piece in hit.pieces] == [
        ("A ", False),
        ("table", True),
        (" for two", False),
    ]


def test_customer_messages_are_escaped(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "<script>alert(1)</script> table", name="<b>Bob</b>")
    for query in ("?view=all", "?q=table", "?q=script"):
        text = owner.get(list_url(tenant) + query).content.decode()
        assert "<script>alert" not in text
        assert "<b>Bob" not in text


def test_a_search_without_results_explains_how_to_search(owner: Client, tenant: Tenant) -> None:
    text = owner.get(list_url(tenant), {"q": "zeppelin"}).content.decode()
    assert "No results" in text
    assert "Show all conversations" in text


def test_an_unfinished_search_links_to_older_messages(
    owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "WINDOW", 1)
    talk(tenant, "the oldest says marzipan", "two")
    first = owner.get(list_url(tenant), {"q": "marzipan"})
    assert "Search older messages" in first.content.decode()
    second = owner.get(list_url(tenant) + first.context["next"])
    assert len(second.context["rows"]) == 1


# One conversation


@pytest.mark.requirement("T17")
def test_a_fact_links_to_its_source_message(owner: Client, tenant: Tenant) -> None:
    """Provenance, for staff."""
    row = talk(tenant, "Hi", "I am Giulia")
    with tenant.tx():
        source = row.messages.get(seq=2)
        field = {"key": "name", "value": "Giulia", "strength": Strength.STATED, "quote": "I am Giulia"}
        PersonaField.objects.create(persona_id=row.persona_id, message_id=source.pk, **field)
    text = owner.get(one_url(tenant, row)).content.decode()
    assert f'data-message="{source.pk}"' in text
    assert "message 2" in text


def test_a_fact_from_an_earlier_conversation_says_so(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        field = {"key": "name", "value": "Giulia", "strength": Strength.STATED}
        PersonaField.objects.create(persona_id=row.persona_id, message_id=uuid4(), **field)
    assert "from an earlier conversation" in owner.get(one_url(tenant, row)).content.decode()


def test_the_history_of_consents_is_shown_with_its_quotes(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        same = {"project": tenant.project, "persona_id": row.persona_id, "kind": "sms"}
        ConsentChange.objects.create(**same, is_given=False, source="customer", quote="Never text me")
        ConsentChange.objects.create(**same, is_given=True, source="staff")
    text = owner.get(one_url(tenant, row)).content.decode().partition('id="consents"')[2].partition("</ul>")[0]
    assert text.index("Agreed") < text.index("Refused")
    assert ("set by your team" in text, "“Never text me”" in text) == (True, True)


def test_a_fact_of_another_visit_is_not_shown(owner: Client, tenant: Tenant) -> None:
    row, other = talk(tenant, "Hi"), talk(tenant, "Hi again")
    with tenant.tx():
        for conversation, day in ((row, "on Friday"), (other, "on Sunday")):
            field = {"key": "date", "value": day, "strength": Strength.STATED, "conversation": conversation}
            PersonaField.objects.create(persona_id=row.persona_id, **field)
    text = owner.get(one_url(tenant, row)).content.decode()
    assert ("on Friday" in text, "on Sunday" in text) == (True, False)


def test_what_is_still_to_ask_has_the_names_of_fields_for_people(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        turn = Turn.objects.get(conversation=row)
        document = {"scenario": "", "step": "", "to_collect": ["phone", "party_size"], "instructions": []}
        found = Directives.objects.create(conversation=row, turn=turn, version=1, document=document)
        Conversation.objects.filter(pk=row.pk).update(directives=found)
    shown = owner.get(one_url(tenant, row)).context["directives"]["to_collect"]
    assert "party_size" not in shown
    assert len(shown) == 2


def test_a_conversation_opens_in_the_inspector(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    inspector = reverse("playground", args=[tenant.project.slug])
    assert f"{inspector}?conversation={row.pk}" in owner.get(one_url(tenant, row)).content.decode()


def test_clearing_a_flag_is_logged(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", flag="asked for a person")
    owner.post(one_url(tenant, row), UNFLAG)
    with tenant.tx():
        assert Conversation.objects.get(pk=row.pk).flag == ""
        event = Event.objects.get(conversation=row, idn="flag_cleared")
    assert event.payload == {"reason": "asked for a person", "by": tenant.owner.name}


@pytest.mark.requirement("T19")
def test_a_low_score_and_a_broken_claim_of_one_turn_are_both_shown(owner: Client, tenant: Tenant) -> None:
    """Whichever flow wrote last; not what was before the flag was taken down."""
    row = talk(tenant, "Hi")
    with tenant.tx():
        turn = Turn.objects.get(conversation=row)
        for reason in ("It was rude.", "It asked three times."):
            with open_log(row.pk) as log:
                store_quality(log, turn, Quality(reason=reason, score=2))
            if reason == "It was rude.":
                clear_flag(row.pk, by=tenant.owner)
        with open_log(row.pk) as log:
            for quote in ("I've sent it", "It is booked"):
                log.add_event("claim_unbacked", payload={"turn": str(turn.pk), "tool": "x", "quote": quote})
            log.conversation.flag = broken_claim(["I've sent it", "It is booked"])
    text = unescape(owner.get(one_url(tenant, row)).content.decode())
    assert "Flagged for 2 reasons" in text
    reasons = [
        "Claimed but not done: “I've sent it” and “It is booked”",
        "Quality 2 of 10: It asked three times.",
    ]
    assert "".join(f'<li dir="auto">{reason}</li>' for reason in reasons) in text


def test_clearing_a_flag_twice_shows_a_message(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", flag="asked for a person")
    owner.post(one_url(tenant, row), UNFLAG)
    text = owner.post(one_url(tenant, row), UNFLAG, follow=True).content.decode()
    assert "The flag has already been cleared." in text


def test_an_operator_can_clear_a_flag_and_a_viewer_cannot(operator: Any, viewer: Any, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", flag="asked for a person")
    seen = browser(viewer).get(one_url(tenant, row)).content.decode()
    assert "asked for a person" in seen
    assert "Take the flag down" not in seen
    assert browser(viewer).post(one_url(tenant, row), UNFLAG).status_code == 403
    assert browser(operator).post(one_url(tenant, row), UNFLAG).status_code == 302


def test_another_tenants_conversation_is_not_found(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    theirs = talk(stranger, "Hi", flag="asked for a person")
    for send in (owner.get, owner.post):
        assert send(one_url(tenant, theirs)).status_code == 404
    with stranger.tx():
        assert Conversation.objects.get(pk=theirs.pk).flag
