"""Files that customers send on their page, with its script and with a plain form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from conversations.customers.merge import merge_customers, read_preview
from conversations.handover.attachments import MAX_BYTES, MAX_PER_ANSWER, delete_unsent
from conversations.models import Attachment, Conversation, ConversationStatus, Message, Persona
from privacy.erasure.rows import delete_rows
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.conversations.handover.test_attachments import PDF, PNG
from tests.conversations.portal.test_portal import call as call
from tests.conversations.portal.test_portal import token_of
from tests.conversations.widget.test_files import set_files

JSON = {"Accept": "application/json"}


def upload(client: Client, row: Conversation, content: bytes = PNG, name: str = "a.png", **headers: str) -> Any:
    path = f"/c/{token_of(row)}/attachments?name={name}"
    return client.post(path, content, content_type="application/octet-stream", headers=headers)


def send(client: Client, row: Conversation, *, words: str = "", ids: Sequence[str] = (), **fields: Any) -> Any:
    body = {"content": words, "attachments": list(ids), **fields}
    return client.post(f"/c/{token_of(row)}", body, headers=JSON)


def submit(client: Client, row: Conversation, *files: tuple[str, bytes], words: str = "", **fields: Any) -> Any:
    """The form as a browser without scripts sends it."""
    chosen = [SimpleUploadedFile(name, content) for name, content in files]
    return client.post(f"/c/{token_of(row)}", {"content": words, "files": chosen, **fields})


def said(tenant: Tenant) -> list[Message]:
    with tenant.tx():
        return list(Message.objects.filter(conversation__channel="portal", role="user").order_by("seq"))


def test_the_script_uploads_a_file_and_sends_it_alone(call: Conversation, client: Client, tenant: Tenant) -> None:
    file = upload(client, call)
    assert file.status_code == 201
    sent = send(client, call, ids=[file.json()["id"]])
    assert (sent.status_code, sent.json()["message"]["attachments"]) == (202, [file.json()])
    assert [message.content for message in said(tenant)] == ["[File: a.png]"]


def test_a_plain_form_sends_its_files_with_its_words(call: Conversation, client: Client, tenant: Tenant) -> None:
    assert submit(client, call, ("a.png", PNG), ("b.pdf", PDF), words="Both").status_code == 302
    [message] = said(tenant)
    assert [file["name"] for file in message.attachments] == ["a.png", "b.pdf"]
    page = client.get(f"/c/{token_of(call)}").content.decode()
    assert "[File:" not in page
    picture = re.search(r'<img src="(/files/[\w=-]+)" alt="a.png"', page)
    assert picture is not None
    assert client.get(picture[1]).content == PNG


def test_a_plain_form_submitted_twice_is_stored_once(call: Conversation, client: Client, tenant: Tenant) -> None:
    for content in (PNG, PNG, PNG + b"x"):
        submit(client, call, ("a.png", content), key="1" * 32)
    assert len(said(tenant)) == 2
    with tenant.tx():
        assert Attachment.objects.count() == 2


def test_a_repeated_upload_stores_one_file(call: Conversation, client: Client, tenant: Tenant) -> None:
    key = {"Idempotency-Key": "one"}
    assert upload(client, call, PNG, **key).json() == upload(client, call, PNG, **key).json()
    with tenant.tx():
        assert Attachment.objects.count() == 1


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [("a.png", b"<svg/>", "file_type_differs"), ("a.zip", b"PK\x03\x04", "file_type_not_allowed")],
)
def test_a_refused_file_stores_nothing_and_is_explained(
    call: Conversation, client: Client, tenant: Tenant, name: str, content: bytes, code: str
) -> None:
    refused = upload(client, call, content, name)
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, code)
    page = submit(client, call, ("good.png", PNG), (name, content), words="See?")
    assert page.status_code == 422
    assert f"{name} " in page.content.decode()
    assert "See?" in page.content.decode()
    with tenant.tx():
        assert not Attachment.objects.exists()
    assert said(tenant) == []


def test_a_refusal_is_in_the_customers_language(call: Conversation, client: Client) -> None:
    refused = upload(client, call, b"", **{"Accept-Language": "it"})
    assert refused.json()["error"]["message"] == "a.png è vuoto."


def test_too_many_and_too_large_files_of_a_form_are_refused(call: Conversation, client: Client, tenant: Tenant) -> None:
    submit(client, call, *[(f"{number}.png", PNG) for number in range(MAX_PER_ANSWER + 1)])
    submit(client, call, ("big.png", PNG.ljust(MAX_BYTES + 1, b"\0")))
    assert said(tenant) == []


def test_an_empty_form_is_no_message(call: Conversation, client: Client, tenant: Tenant) -> None:
    """A browser sends an empty file where none was chosen."""
    submit(client, call)
    assert client.post(f"/c/{token_of(call)}", {"content": "", "files": ""}).status_code == 302
    assert said(tenant) == []


def test_the_file_of_another_customer_is_refused(call: Conversation, client: Client, tenant: Tenant) -> None:
    id = upload(client, call).json()["id"]
    for wrong in (str(uuid4()), "x"):
        assert send(client, call, ids=[id, wrong]).status_code == 422
    assert said(tenant) == []
    assert send(client, call, ids=[id]).status_code == 202
    assert send(client, call, ids=[id]).status_code == 422


def test_the_switch_turns_uploads_off(call: Conversation, client: Client, tenant: Tenant) -> None:
    assert 'id="picked"' in client.get(f"/c/{token_of(call)}").content.decode()
    set_files(tenant, False)
    assert 'id="picked"' not in client.get(f"/c/{token_of(call)}").content.decode()
    assert upload(client, call).status_code == 403
    submit(client, call, ("a.png", PNG))
    assert said(tenant) == []


def test_uploads_are_limited(call: Conversation, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conversations.portal.files.UPLOADS_PER_MINUTE", 2)
    assert [upload(client, call).status_code for _ in range(3)] == [201, 201, 429]


def test_a_file_follows_its_customer_into_the_next_chat(call: Conversation, client: Client, tenant: Tenant) -> None:
    """The chat closes between upload and message."""
    send(client, call, words="Hello")
    id = upload(client, call).json()["id"]
    with tenant.tx():
        Conversation.objects.filter(channel="portal").update(status=ConversationStatus.TRANSFERRED)
    assert send(client, call, ids=[id]).json()["message"]["attachments"][0]["id"] == id
    with tenant.tx():
        assert Conversation.objects.filter(channel="portal").count() == 2


def test_a_link_that_we_never_signed_takes_no_file(call: Conversation, client: Client) -> None:
    assert client.post(f"/c/{'A' * 68}/attachments", PNG, content_type="image/png").status_code == 404


def test_an_upload_needs_the_pages_token(call: Conversation) -> None:
    """Another site can't upload in the customer's name."""
    assert upload(Client(enforce_csrf_checks=True), call).status_code == 403


def test_an_upload_begins_no_chat(call: Conversation, client: Client, tenant: Tenant) -> None:
    upload(client, call)
    with tenant.tx():
        assert not Conversation.objects.filter(channel="portal").exists()


def test_a_customer_who_is_merged_meanwhile_still_sends_their_file(
    call: Conversation, client: Client, tenant: Tenant
) -> None:
    id = upload(client, call).json()["id"]
    with tenant.tx():
        target = Persona.objects.create(project=tenant.project, external_id="clara")
        seen = read_preview(tenant.project, target.pk, call.persona_id).seen
        merge_customers(tenant.project, target.pk, call.persona_id, seen=seen, by=tenant.owner)
    assert send(client, call, ids=[id]).status_code == 202


def test_a_message_beside_the_deletion_of_its_file_says_so(call: Conversation, client: Client, tenant: Tenant) -> None:
    id = upload(client, call).json()["id"]
    with tenant.tx():
        Attachment.objects.update(created_at=timezone.now() - timedelta(hours=25))
    with meanwhile('"conversations_conversation"."channel" = ', delete_unsent):
        assert send(client, call, words="Hello", ids=[id]).status_code == 422
    assert said(tenant) == []


def test_a_message_beside_the_deletion_of_its_chat_begins_another(
    call: Conversation, client: Client, tenant: Tenant
) -> None:
    send(client, call, words="Hello")
    id = upload(client, call).json()["id"]

    def delete() -> None:
        with tenant.tx():
            chats = Conversation.objects.filter(channel="portal")
            delete_rows(Conversation, list(chats.values_list("pk", flat=True)))

    with meanwhile('"conversations_conversation"."channel" = ', delete):
        assert send(client, call, words="Again", ids=[id]).status_code == 202
    assert [message.content for message in said(tenant)] == ["Again\n[File: a.png]"]
