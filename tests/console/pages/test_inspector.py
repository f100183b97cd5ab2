"""Staff look at a customer's conversation, and never speak for the customer."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.models import Channel, ConsentChange, ConsentSource, Conversation, Message
from tests.conftest import Tenant
from tests.console.pages.conftest import talk


@pytest.fixture
def real(tenant: Tenant) -> Conversation:
    return talk(tenant, "Do you have a table?")


def post(client: Client, tenant: Tenant, conversation: Conversation) -> tuple[int, str]:
    response = client.post(
        f"/api/v1/conversations/{conversation.pk}/messages",
        {"content": "Cancel everything."},
        "application/json",
        headers={"X-Project": tenant.project.slug},
    )
    return response.status_code, response.json().get("error", {}).get("code", "")


def call_api(client: Client, tenant: Tenant, path: str, body: dict[str, Any]) -> tuple[int, str]:
    response = client.post(f"/api/v1/{path}", body, "application/json", headers={"X-Project": tenant.project.slug})
    return response.status_code, response.json().get("error", {}).get("code", "")


def as_test(tenant: Tenant, conversation: Conversation) -> Conversation:
    with tenant.tx():
        conversation.metadata = {"playground": True}
        conversation.save()
    return conversation


def test_a_member_cannot_write_as_a_real_customer(owner: Client, tenant: Tenant, real: Conversation) -> None:
    assert post(owner, tenant, real) == (403, "not_a_test_conversation")
    with tenant.tx():
        assert Message.objects.filter(conversation=real, content="Cancel everything.").count() == 0


def test_a_member_cannot_report_what_a_real_caller_said(owner: Client, tenant: Tenant, real: Conversation) -> None:
    with tenant.tx():
        Conversation.objects.filter(pk=real.pk).update(channel=Channel.PHONE)
    said = {"reports": [{"id": "1", "type": "caller_said", "text": "Cancel everything."}]}
    path = f"conversations/{real.pk}/session/reports"
    assert call_api(owner, tenant, path, said) == (403, "not_a_test_conversation")
    with tenant.tx():
        assert Message.objects.filter(conversation=real, content="Cancel everything.").count() == 0


def test_a_member_cannot_call_tools_in_a_real_call(owner: Client, tenant: Tenant, real: Conversation) -> None:
    called = {"call_id": "1", "name": "end_call", "context": {}, "heard": "Yes, hang up."}
    path = f"conversations/{real.pk}/tool-calls"
    assert call_api(owner, tenant, path, called) == (403, "not_a_test_conversation")


def test_a_member_cannot_play_a_real_customer_in_a_test(owner: Client, tenant: Tenant, real: Conversation) -> None:
    with tenant.tx():
        known = real.persona.external_id
    opened = {"channel": "chat", "metadata": {"playground": True}}
    refused = call_api(owner, tenant, "conversations", {**opened, "persona": {"external_id": known}})
    assert refused == (403, "not_a_test_customer")
    assert call_api(owner, tenant, "conversations", {**opened, "persona": {"external_id": "somebody"}}) == (201, "")


def test_a_test_customer_can_be_played_again(owner: Client, tenant: Tenant, real: Conversation) -> None:
    opened = {"channel": "chat", "metadata": {"playground": True}, "persona": {"external_id": "played"}}
    for _ in range(2):
        assert call_api(owner, tenant, "conversations", opened) == (201, "")


def test_a_consent_that_a_member_sets_is_recorded_as_set_by_staff(
    owner: Client, tenant: Tenant, real: Conversation
) -> None:
    response = owner.patch(
        f"/api/v1/personas/{real.persona_id}",
        {"attributes": {"sms_opt_in": "true"}},
        "application/json",
        headers={"X-Project": tenant.project.slug},
    )
    assert response.status_code == 200
    with tenant.tx():
        assert ConsentChange.objects.get().source == ConsentSource.STAFF


def test_a_member_can_write_as_a_test_customer(owner: Client, tenant: Tenant, real: Conversation) -> None:
    assert post(owner, tenant, as_test(tenant, real)) == (202, "")


def test_an_api_key_can_post_customer_messages(api: Client, real: Conversation) -> None:
    response = api.post(f"/api/v1/conversations/{real.pk}/messages", {"content": "Hello"}, "application/json")
    assert response.status_code == 202


def test_the_inspector_of_a_real_conversation_is_read_only(owner: Client, tenant: Tenant, real: Conversation) -> None:
    page = owner.get(f"/p/{tenant.project.slug}/playground", {"conversation": str(real.pk)})
    html = page.content.decode()
    assert page.context["inspects"]
    assert 'id="compose"' not in html
    # In the sidebar, and in the bar at the bottom of a phone.
    assert html.count('aria-current="page"') == 2
    assert f'href="/p/{tenant.project.slug}/inbox" data-page="inbox" title="Inbox" aria-current="page"' in html
    assert "data-can-write" not in html
    assert f'href="/p/{tenant.project.slug}/inbox/{real.pk}"' in html


def test_a_test_conversation_keeps_its_composer(owner: Client, tenant: Tenant, real: Conversation) -> None:
    as_test(tenant, real)
    page = owner.get(f"/p/{tenant.project.slug}/playground", {"conversation": str(real.pk)})
    assert 'id="compose"' in page.content.decode()
