"""Conversation search by customer and text, paginated, within the project."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from console import search
from console.search import Filters, Place, find_by_customer, find_by_words, list_conversations
from conversations.live.archive import archive_transcript
from conversations.live.event_log import lock_conversation, open_log
from conversations.models import Channel, Conversation, ConversationStatus
from projects.agents.services import create_project
from tests.conftest import Tenant
from tests.console.pages.conftest import talk

ANY = Filters()


def found_by(tenant: Tenant, text: str, filters: Filters = ANY) -> list[str]:
    with tenant.tx():
        return [row.persona.external_id for row in find_by_customer(tenant.project, text, filters)]


def said(tenant: Tenant, text: str, filters: Filters = ANY) -> list[str]:
    with tenant.tx():
        return [hit.content for hit in find_by_words(tenant.project, text, filters, before=None).messages]


def test_pages_follow_one_another_without_a_gap(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with equal timestamps."""
    monkeypatch.setattr(search, "PAGE", 2)
    now = timezone.now()
    made = [talk(tenant, "Hi", at=now - timedelta(minutes=number // 2), guest=str(number)) for number in range(5)]
    seen: list[Conversation] = []
    place, is_more = None, True
    while is_more:
        with tenant.tx():
            page = list_conversations(tenant.project, ANY, after=place)
        seen, place, is_more = seen + page.conversations, page.next, page.next is not None
    assert {row.pk for row in seen} == {row.pk for row in made}
    assert len(seen) == 5
    assert [row.updated_at for row in seen] == sorted((row.updated_at for row in seen), reverse=True)


def test_filters_narrow_the_list(tenant: Tenant) -> None:
    talk(tenant, "Hi", guest="chat")
    phone = talk(tenant, "Hi", guest="phone", channel=Channel.PHONE, flag="asked for a person")
    with tenant.tx():
        Conversation.objects.filter(pk=phone.pk).update(status=ConversationStatus.ENDED)
        for filters in (Filters(channel="phone"), Filters(status="ended"), Filters(flagged=True)):
            page = list_conversations(tenant.project, filters, after=None)
            assert [row.persona.external_id for row in page.conversations] == ["phone"], filters


@pytest.mark.parametrize(
    "text",
    ["Giulia", "giulia fe", "Ferri", "GIULIA.F", "+39 347 555 0142", "347 5550142", "0142", "the-guest", " ferri "],
)
def test_a_customer_is_found_by_text(text: str, tenant: Tenant) -> None:
    talk(tenant, "Hi", guest="the-guest", name="Giulia Ferri", phone="+393475550142", email="giulia.ferri@example.com")
    talk(tenant, "Hi", guest="another", name="Jonas Weber", phone="+491515550119", email="jonas@weber.example")
    assert found_by(tenant, text) == ["the-guest"]


@pytest.mark.parametrize("text", ["iulia", "%", "_", "", "555", "example.com", "0143"])
def test_no_customer_is_found_by_text(text: str, tenant: Tenant) -> None:
    talk(tenant, "Hi", guest="the-guest", name="Giulia Ferri", phone="+393475550142", email="giulia.ferri@example.com")
    assert found_by(tenant, text) == []


def test_words_match_in_any_order_and_case(tenant: Tenant) -> None:
    talk(tenant, "A table by the Window", "Thank you")
    assert said(tenant, "window TABLE") == ["A table by the Window"]
    assert said(tenant, "window door") == []


@pytest.mark.parametrize("text", ["100%", "a_b", "back\\slash"])
def test_pattern_characters_match_literally(text: str, tenant: Tenant) -> None:
    talk(tenant, f"It is {text}", "It is 1000, axb, backslash")
    assert said(tenant, text) == [f"It is {text}"]


def test_a_search_scans_one_window_and_continues(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "WINDOW", 2)
    talk(tenant, "the oldest says marzipan", "two", "three", "four")
    with tenant.tx():
        first = find_by_words(tenant.project, "marzipan", ANY, before=None)
        second = find_by_words(tenant.project, "marzipan", ANY, before=first.next)
    assert (first.messages, first.back_to is not None) == ([], True)
    assert [hit.content for hit in second.messages] == ["the oldest says marzipan"]


def test_beside_customers_a_search_scans_less_at_once(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "WINDOW", 4)
    talk(tenant, "one", "two", "three", "Giulia said four")
    with tenant.tx():
        first = find_by_words(tenant.project, "two", ANY, before=None, is_beside_customers=True)
        second = find_by_words(tenant.project, "two", ANY, before=first.next)
    assert first.messages == []
    assert [hit.content for hit in second.messages] == ["two"]


def test_more_matches_than_a_page_are_paginated(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PAGE", 2)
    talk(tenant, "table 1", "table 2", "table 3")
    with tenant.tx():
        first = find_by_words(tenant.project, "table", ANY, before=None)
        second = find_by_words(tenant.project, "table", ANY, before=first.next)
    assert [hit.content for hit in first.messages] == ["table 3", "table 2"]
    assert ([hit.content for hit in second.messages], second.next) == (["table 1"], None)


def test_a_search_applies_the_filters(tenant: Tenant) -> None:
    talk(tenant, "table", name="Giulia Ferri", channel=Channel.PHONE)
    assert said(tenant, "table", Filters(channel="chat")) == []
    assert found_by(tenant, "giulia", Filters(channel="chat")) == []


# The archive


def archived(tenant: Tenant, *texts: str, **options: Any) -> Conversation:
    """A conversation with these messages and a last one, which stays a row."""
    made = talk(tenant, *texts, "Goodbye", **options)
    with tenant.tx():
        lock_conversation(made.pk)
        archive_transcript(made.pk)
    return made


def all_said(tenant: Tenant, text: str, filters: Filters = ANY) -> list[str]:
    """The matches on all pages of a search."""
    found, place, is_more = list[str](), None, True
    while is_more:
        with tenant.tx():
            page = find_by_words(tenant.project, text, filters, before=place)
        found += [hit.content for hit in page.messages]
        place, is_more = page.next, page.next is not None
        assert is_more is (page.back_to is not None)
    return found


def test_archived_messages_are_found_after_the_others(tenant: Tenant) -> None:
    archived(tenant, "Archived MARZIPAN", "Thanks", guest="old")
    talk(tenant, "New marzipan", guest="new")
    assert all_said(tenant, "marzipan") == ["New marzipan", "Archived MARZIPAN"]


def test_of_an_archived_transcript_the_newest_match_is_listed(tenant: Tenant) -> None:
    archived(tenant, "cake one", "cake two")
    assert all_said(tenant, "cake") == ["cake two"]


def test_one_archived_message_has_every_word(tenant: Tenant) -> None:
    archived(tenant, "cake", "coffee")
    assert all_said(tenant, "cake coffee") == []


@pytest.mark.parametrize(("name", "most"), [("PAGE", 2), ("ARCHIVE_WINDOW", 1), ("ARCHIVE_WINDOW", 2)])
def test_the_archive_is_searched_page_by_page(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(search, name, most)
    for number in range(5):
        archived(tenant, f"cake {number}", guest=str(number))
    assert all_said(tenant, "cake") == ["cake 4", "cake 3", "cake 2", "cake 1", "cake 0"]


def test_a_search_of_the_archive_applies_the_filters(tenant: Tenant) -> None:
    archived(tenant, "cake", channel=Channel.PHONE)
    assert all_said(tenant, "cake", Filters(channel="chat")) == []
    assert all_said(tenant, "cake", Filters(channel="phone")) == ["cake"]


def test_another_tenants_archive_is_not_found(tenant: Tenant, stranger: Tenant) -> None:
    archived(stranger, "cake")
    assert all_said(tenant, "cake") == []


def test_a_conversation_that_goes_on_is_found_once(tenant: Tenant) -> None:
    made = archived(tenant, "cake")
    with tenant.tx(), open_log(made.pk):
        """Nothing is written."""
    assert all_said(tenant, "cake") == ["cake"]


@pytest.mark.parametrize("text", ["", "archive-", "x", "archive-x"])
def test_an_invalid_cursor_is_the_beginning(text: str) -> None:
    assert Place.parse(text) is None


@pytest.mark.parametrize("place", [Place(), Place(is_archive=True)])
def test_a_place_is_read_as_it_was_written(place: Place) -> None:
    assert Place.parse(str(place)) == place


def test_another_project_and_another_tenant_are_not_found(tenant: Tenant, stranger: Tenant) -> None:
    talk(stranger, "table", name="Giulia Ferri")
    talk(tenant, "table", name="Giulia Ferri")
    with tenant.tx():
        second = create_project("Second", config=tenant.project.agent_version.config)
        assert find_by_customer(second, "Giulia", ANY) == []
        assert find_by_words(second, "table", ANY, before=None).messages == []
        assert list_conversations(second, ANY, after=None).conversations == []
    assert len(said(tenant, "table")) == 1
