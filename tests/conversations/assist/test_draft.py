"""Drafts of staff's answers: from the conversation, recorded and counted, never sent, never claiming what isn't so."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.models import Conversation, Message
from jobs.models import ModelCall
from projects.models.attribute_catalogue import MODEL_TOKEN_LIMIT
from projects.records.attributes import set_attribute
from tests.conftest import Tenant
from tests.console.pages.conftest import talk
from tests.processes import ScriptedModel

JSON = {"content_type": "application/json"}


@pytest.fixture(autouse=True)
def asked_model(settings: Any, model: ScriptedModel) -> None:
    settings.OPENAI_BASE_URL = model.base_url


def draft(api: Client, conversation: Conversation, **body: str) -> Any:
    return api.post(f"/api/v1/conversations/{conversation.pk}/draft", body, **JSON)


def calls_of(tenant: Tenant, conversation: Conversation) -> list[ModelCall]:
    with tenant.tx():
        return list(ModelCall.objects.filter(subject_id=conversation.pk))


def test_a_draft_is_written_from_the_conversation_and_recorded(
    tenant: Tenant, api: Client, model: ScriptedModel
) -> None:
    row = talk(tenant, "Is the terrace open tonight?")
    model.script("draft", text='{"answer": "Yes, until eleven."}')
    response = draft(api, row, begun="Yes")
    assert (response.status_code, response.json()) == (200, {"content": "Yes, until eleven."})
    [call] = calls_of(tenant, row)
    asked = "".join(message["content"] for message in call.messages)
    assert call.skill == "draft"
    assert "customer: Is the terrace open tonight?" in asked
    assert "<Begun>\nYes\n</Begun>" in asked


def test_a_draft_is_not_sent(tenant: Tenant, api: Client) -> None:
    row = talk(tenant, "Is the terrace open tonight?")
    assert draft(api, row).status_code == 200
    with tenant.tx():
        assert Message.objects.filter(conversation=row).count() == 1


def test_the_offline_model_writes_drafts(tenant: Tenant, api: Client) -> None:
    row = talk(tenant, "Hello, what are your opening hours?")
    content = draft(api, row, begun="Good evening!").json()["content"]
    assert content.startswith("Good evening! ")
    assert len(content) > len("Good evening! ")


def test_a_draft_claims_nothing_that_was_not_done(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    row = talk(tenant, "Did the text go out?")
    model.script("draft", text='{"answer": "I have sent you the text. Have a nice day."}')
    content = draft(api, row).json()["content"]
    assert "I have sent you the text" not in content
    assert content.endswith("Have a nice day.")


def test_before_the_customer_wrote_there_is_nothing_to_draft(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    assert draft(api, talk(tenant)).status_code == 409
    assert model.requests() == []


def test_a_spent_model_budget_refuses_drafts(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        set_attribute(tenant.project, MODEL_TOKEN_LIMIT, 0)
    refused = draft(api, row)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "model_budget_spent")
    assert model.requests() == []


def test_a_refusal_says_so_and_is_recorded(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    row = talk(tenant, "Hi")
    model.script("draft", fault="content_filter")
    refused = draft(api, row)
    assert (refused.status_code, refused.json()["error"]["code"]) == (502, "model_refused")
    assert [call.error for call in calls_of(tenant, row)] == ["refused"]
