"""The page of phone calls."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from conversations.live.event_log import open_log
from conversations.models import Call, Conversation, MessageRole, Summary, Turn
from conversations.turns.services import start_conversation
from jobs.models import ModelCall
from projects.models import User
from tests.conftest import Tenant


@pytest.fixture
def pages(tenant: Tenant) -> Client:
    client = Client()
    client.force_login(tenant.owner)
    return client


def make_call(tenant: Tenant, *, state: str, words: str = "") -> Call:
    with tenant.tx():
        conversation: Conversation = start_conversation(
            tenant.project, channel="phone", external_id=f"caller {state}", known={}, metadata={}
        )
        if words:
            with open_log(conversation.pk) as log:
                log.add_message(MessageRole.USER, words, turn=None, idn="user_message")
        return Call.objects.create(
            project=tenant.project,
            conversation=conversation,
            provider="openai",
            external_id=f"rtc {state}",
            caller="+393331234567",
            state=state,
        )


def test_a_call_shows_what_came_of_it_and_what_it_used(tenant: Tenant, pages: Client) -> None:
    call = make_call(tenant, state="ended", words="Thanks, bye.")
    with tenant.tx():
        Call.objects.filter(pk=call.pk).update(usage={"audio_in": 1200, "audio_out": 300, "text_in": 40})
        conversation = Conversation.objects.get(pk=call.conversation_id)
        Summary.objects.create(conversation=conversation, until_seq=1, text="Anna asked for a table.")
        turn = Turn.objects.create(conversation=conversation, seq=1)
        ModelCall.objects.create(
            project=tenant.project,
            turn_id=turn.pk,
            skill="thoughts",
            template_hash="",
            model="m",
            host="h",
            messages=[],
            cost="0.0125",
            started_at=timezone.now(),
            total_ms=1,
        )
    html = page(pages, tenant)
    for words in ("Anna asked for a table.", "Audio tokens: 1,500", "Text tokens: 40", "Model calls: $0.0125"):
        assert words in html


def page(pages: Client, tenant: Tenant) -> str:
    return pages.get(f"/p/{tenant.project.slug}/calls").content.decode()


def test_a_live_call_shows_its_newest_line_and_what_can_be_done(tenant: Tenant, pages: Client) -> None:
    call = make_call(tenant, state="live", words="Have you a table <b>tonight</b>?")
    html = page(pages, tenant)
    assert "Have you a table &lt;b&gt;tonight&lt;/b&gt;?" in html
    assert f"/calls/{call.pk}/end" in html
    assert f"/calls/{call.pk}/take-over" in html


def test_a_past_call_leads_to_its_transcript_and_offers_nothing(tenant: Tenant, pages: Client) -> None:
    call = make_call(tenant, state="ended")
    html = page(pages, tenant)
    assert f"/inbox/{call.conversation_id}" in html
    assert f"/calls/{call.pk}/end" not in html


def test_a_viewer_sees_calls_and_may_not_end_them(tenant: Tenant, viewer: User) -> None:
    call = make_call(tenant, state="live")
    client = Client()
    client.force_login(viewer)
    assert f"/calls/{call.pk}/end" not in page(client, tenant)
    assert client.post(f"/p/{tenant.project.slug}/calls/{call.pk}/end").status_code == 403


def test_ending_a_call_from_the_page_ends_its_conversation(tenant: Tenant, pages: Client) -> None:
    call = make_call(tenant, state="live")
    assert pages.post(f"/p/{tenant.project.slug}/calls/{call.pk}/end").status_code == 302
    with tenant.tx():
        assert Conversation.objects.get(pk=call.conversation_id).status == "ended"


@pytest.mark.parametrize(("number", "status"), [("06 5550 1140", "transferred"), ("soon", "open")])
def test_taking_a_call_over_needs_a_number(tenant: Tenant, pages: Client, number: str, status: str) -> None:
    """Anything else is answered with a sentence."""
    call = make_call(tenant, state="live")
    answer = pages.post(f"/p/{tenant.project.slug}/calls/{call.pk}/take-over", {"number": number}, follow=True)
    with tenant.tx():
        assert Conversation.objects.get(pk=call.conversation_id).status == status
    assert ("is not a phone number" in answer.content.decode()) == (status == "open")


def test_another_organizations_call_is_not_found(tenant: Tenant, pages: Client, stranger: Tenant) -> None:
    theirs = make_call(stranger, state="live")
    assert pages.post(f"/p/{tenant.project.slug}/calls/{theirs.pk}/end").status_code == 404
    assert str(theirs.pk) not in page(pages, tenant)
