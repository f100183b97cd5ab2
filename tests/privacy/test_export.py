"""Downloads of everything about one customer."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.test import AsyncClient, Client

from conversations.handover.attachments import upload, upload_ahead
from conversations.models import Attachment, Conversation, Message, Note, Persona
from conversations.turns.services import give_fields, post_message, start_conversation
from privacy.registry import OF_CUSTOMERS
from projects.models import ApiKey, AuditAction, AuditEntry
from tenancy.threads import in_db
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect
from tests.privacy.rows import MARK, fill_for_customer

UNSAFE_WORDS = "</article><script>alert('x')</script>"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


def begin(tenant: Tenant) -> Conversation:
    with tenant.tx():
        known = {"name": "Ada Lovelace", "phone": "+393475550142"}
        return start_conversation(
            tenant.project, channel="chat", external_id="guest-7731", known=known, metadata={"table": 7}
        )


async def download(tenant: Tenant, persona_id: Any) -> zipfile.ZipFile:
    response = await AsyncClient().get(f"/api/v1/personas/{persona_id}/export", headers=tenant.headers)
    assert (response.status_code, response["Content-Type"]) == (200, "application/zip")
    content = b"".join([piece async for piece in response])
    return zipfile.ZipFile(io.BytesIO(content))


def read(tenant: Tenant, persona_id: Any) -> zipfile.ZipFile:
    return asyncio.run(download(tenant, persona_id))


def test_an_export_has_the_conversation_as_json_and_as_a_page(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        post_message(conversation.pk, "Do you have a table?")
    found = read(tenant, conversation.persona_id)
    assert found.testzip() is None
    [name] = [one for one in found.namelist() if one.startswith("conversations/") and one.endswith(".json")]
    document = json.loads(found.read(name))
    assert [one["content"] for one in document["messages"]] == ["Do you have a table?"]
    assert document["conversations"][0]["metadata"] == {"table": 7}
    assert "Do you have a table?" in found.read(name.replace(".json", ".html")).decode()
    page = found.read("index.html").decode()
    assert ("Ada Lovelace" in page, "+39 347 555 0142" in page) == (True, True)


def test_the_pages_of_an_export_name_tools_and_fields(tenant: Tenant) -> None:
    conversation = begin(tenant)
    add_effect(tenant, conversation, tool="send_sms_tool")
    with tenant.tx():
        give_fields(conversation.persona, {"language": "de", "sms_opt_in": "true"})
    found = read(tenant, conversation.persona_id)
    [name] = [one for one in found.namelist() if one.startswith("conversations/") and one.endswith(".html")]
    index, page = found.read("index.html").decode(), found.read(name).decode()
    assert ("German" in index, "sms_opt_in" in index, ">Texts<" in index) == (True, False, True)
    assert ("Send SMS" in page, "send_sms_tool" in page) == (True, False)


def test_words_of_the_customer_close_no_tag_of_the_page(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        post_message(conversation.pk, UNSAFE_WORDS)
    found = read(tenant, conversation.persona_id)
    pages = [found.read(name).decode() for name in found.namelist() if name.endswith(".html")]
    assert not any("<script>" in page for page in pages)


def test_an_export_has_the_files(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        made = upload(conversation, PNG, name="../me.png", by=tenant.owner)
        message = Message.objects.create(conversation=conversation, seq=1, role="operator", content="Your photo")
        Attachment.objects.filter(pk=made.pk).update(message=message)
    found = read(tenant, conversation.persona_id)
    [name] = [one for one in found.namelist() if one.startswith("files/")]
    assert (found.read(name), ".." in name, name.count("/")) == (PNG, False, 1)


def test_an_export_has_the_files_that_wait_for_the_next_message(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        waiting = upload_ahead(tenant.project, "guest-7731", PNG, name="me.png")
        upload_ahead(tenant.project, "guest-7732", PNG, name="other.png")
    found = read(tenant, conversation.persona_id)
    [name] = [one for one in found.namelist() if one.startswith("files/")]
    [told] = json.loads(found.read("customer.json"))["attachments"]
    assert (found.read(name), told["id"], told["file"]) == (PNG, str(waiting.pk), name)


def test_every_declared_table_is_exported(tenant: Tenant) -> None:
    """Each with its personal columns. The job's row is work of ours, and an archive's rows are told as what they were."""
    made = fill_for_customer(tenant)
    found = read(tenant, made[Persona].pk)
    documents: dict[str, list[dict[str, Any]]] = {}
    for name in found.namelist():
        if name.endswith(".json"):
            for key, rows in json.loads(found.read(name)).items():
                if isinstance(rows, list) and rows and key != "conversations_index":
                    documents.setdefault(key, []).extend(rows)
    for contents in OF_CUSTOMERS:
        if contents.name in ("jobs", "archived_transcripts"):
            continue
        assert contents.name in documents, contents.name
        told = set().union(*(row.keys() for row in documents[contents.name]))
        hidden = (
            {"found_by", "found_by_last", "content"}
            if contents.name in ("attachments", "delivered_files")
            else {"found_by", "found_by_last"}
        )
        assert set(contents.customer) - hidden <= told, contents.name
        assert not set(contents.secret) & told, contents.name
        assert not set(contents.staff) & told, contents.name


def test_an_export_names_no_colleague(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        Note.objects.create(conversation=conversation, author=tenant.owner, author_name="Lucia M.", content="Regular")
    found = read(tenant, conversation.persona_id)
    text = "".join(found.read(name).decode() for name in found.namelist())
    assert ("Regular" in text, "Lucia M." in text) == (True, False)


def test_an_export_is_recorded(tenant: Tenant) -> None:
    conversation = begin(tenant)
    read(tenant, conversation.persona_id)
    with tenant.tx():
        entry = AuditEntry.objects.get(action=AuditAction.CUSTOMER_EXPORTED)
        assert (entry.subject, entry.actor) == ("a customer", "the key test")


def test_an_export_ends_when_its_key_is_revoked(tenant: Tenant) -> None:
    """The connection breaks off: a part must not be taken for the whole."""
    conversations = [begin(tenant) for _ in range(3)]

    async def ask() -> None:
        address = f"/api/v1/personas/{conversations[0].persona_id}/export"
        response = await AsyncClient().get(address, headers=tenant.headers)
        await in_db(revoke, tenant)
        async for _ in response:
            pass

    with pytest.raises(PermissionDenied):
        asyncio.run(ask())


def revoke(tenant: Tenant) -> None:
    with tenant.tx():
        ApiKey.objects.all().delete()


def test_an_unknown_customer_has_no_export(tenant: Tenant, api: Client) -> None:
    conversation = begin(tenant)
    assert api.get(f"/api/v1/personas/{conversation.pk}/export").status_code == 404


def test_another_customers_words_are_not_exported(tenant: Tenant) -> None:
    fill_for_customer(tenant)
    conversation = begin(tenant)
    found = read(tenant, conversation.persona_id)
    assert not any(MARK.encode() in found.read(name) for name in found.namelist())
