"""Files of customers' messages over the API: uploaded, sent, and read by the model."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.models import Attachment, Conversation, ConversationStatus, Message
from tests.conftest import Tenant
from tests.console.pages.conftest import talk
from tests.conversations.channels.test_files_in import unseen
from tests.conversations.handover.test_attachments import PDF, PNG
from tests.processes import ScriptedModel, until

JSON = {"content_type": "application/json"}


@pytest.fixture
def row(tenant: Tenant) -> Conversation:
    return talk(tenant, "Hi")


def upload(api: Client, row: Conversation, content: bytes = PNG, name: str = "a.png", **headers: str) -> Any:
    address = f"/api/v1/conversations/{row.pk}/messages/attachments?name={name}"
    return api.post(address, content, content_type="application/octet-stream", headers=headers)


def send(api: Client, row: Conversation, **body: Any) -> Any:
    return api.post(f"/api/v1/conversations/{row.pk}/messages", body, **JSON)


def test_a_file_is_uploaded_and_sent_without_words(api: Client, tenant: Tenant, row: Conversation) -> None:
    file = upload(api, row)
    assert file.status_code == 201
    sent = send(api, row, attachments=[file.json()["id"]])
    assert sent.status_code == 202
    assert sent.json()["message"]["attachments"] == [file.json()]
    assert sent.json()["message"]["content"] == "[File: a.png]"


def test_a_repeated_upload_stores_one_file(api: Client, tenant: Tenant, row: Conversation) -> None:
    key = {"Idempotency-Key": "one"}
    assert upload(api, row, PNG, "a.png", **key).json() == upload(api, row, PNG, "a.png", **key).json()
    with tenant.tx():
        assert Attachment.objects.count() == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "required"),
        ({"content": ""}, "empty"),
        ({"content": " ", "attachments": []}, "empty"),
        ({"attachments": []}, "required"),
        ({"content": None}, "null"),
    ],
)
def test_a_message_has_words_or_files(api: Client, row: Conversation, body: dict[str, Any], code: str) -> None:
    refused = send(api, row, **body).json()["error"]
    assert (refused["code"], refused["field"]) == (code, "content")


def test_a_file_of_another_conversation_is_refused(api: Client, tenant: Tenant, row: Conversation) -> None:
    id = upload(api, talk(tenant, "Hi", guest="other")).json()["id"]
    refused = send(api, row, content="Here", attachments=[id])
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "invalid_attachment")
    with tenant.tx():
        assert Message.objects.filter(content__contains="Here").count() == 0


def test_a_closed_conversation_takes_no_file(api: Client, tenant: Tenant, row: Conversation) -> None:
    with tenant.tx():
        Conversation.objects.filter(pk=row.pk).update(status=ConversationStatus.TRANSFERRED)
    refused = upload(api, row)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conversation_over")


def test_the_project_of_another_key_has_no_such_conversation(api: Client, stranger: Tenant) -> None:
    assert upload(api, talk(stranger, "Hi")).status_code == 404


def test_the_switch_of_the_widget_leaves_the_api_alone(api: Client, tenant: Tenant, row: Conversation) -> None:
    from tests.conversations.widget.test_files import set_files

    set_files(tenant, False)
    assert upload(api, row, PDF, "a.pdf").status_code == 201


@pytest.mark.standing_worker
def test_the_model_sees_pictures_and_reads_the_names_of_other_files(
    api: Client, worker: object, model: ScriptedModel
) -> None:
    said = {"channel": "api", "persona": {"external_id": "ada"}}
    path = f"/api/v1/conversations/{api.post('/api/v1/conversations', said, **JSON).json()['id']}/messages"
    ids = [
        api.post(f"{path}/attachments?name={name}", content, content_type="application/octet-stream").json()["id"]
        for name, content in (("tile.png", PNG), ("offer.pdf", PDF))
    ]
    assert api.post(path, {"attachments": ids}, **JSON).status_code == 202
    until(lambda: model.requests("reply"))
    [asked] = model.requests("reply")
    assert (asked["pictures"], unseen(asked)) == (1, "offer.pdf")
    assert "[File: tile.png]" in str(asked["messages"])
