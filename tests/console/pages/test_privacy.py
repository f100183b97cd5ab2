"""Export and erasure on a person's page."""

from __future__ import annotations

import asyncio
import io
import zipfile

import pytest
from django.test import AsyncClient, Client
from django.urls import reverse

from conversations.handover.attachments import upload, upload_ahead
from conversations.models import Conversation, Persona
from projects.models import Role
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import add_effect, browser, talk
from tools.models import EffectState

PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


def url(tenant: Tenant, row: Conversation, name: str) -> str:
    return reverse(name, args=[tenant.project.slug, row.persona_id])


def test_the_dialog_says_what_is_lost(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", guest="1", name="Giulia Ferri")
    with tenant.tx():
        upload(row, PNG, name="me.png", by=tenant.owner)
        upload_ahead(tenant.project, "1", PNG, name="waiting.png")
    page = owner.get(url(tenant, row, "person")).content.decode()
    assert "Erase Giulia Ferri?" in page
    assert "1 conversation with its messages and notes" in page
    assert "2 files<" in page


def test_an_erasure_needs_the_tick(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", guest="1", name="Giulia Ferri")
    response = owner.post(url(tenant, row, "erase_person"), follow=True)
    assert "Confirm that you understand" in response.content.decode()
    with tenant.tx():
        assert Persona.objects.get().erased_at is None


def test_an_erased_person_is_gone_from_the_list(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", guest="1", name="Giulia Ferri")
    response = owner.post(url(tenant, row, "erase_person"), {"understood": "1"}, follow=True)
    assert response.redirect_chain[-1][0] == reverse("people", args=[tenant.project.slug])
    assert "Giulia Ferri" not in response.content.decode()
    assert owner.get(url(tenant, row, "person")).status_code == 404


def test_an_erasure_is_confirmed_on_the_list(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", guest="1", name="Giulia Ferri")
    response = owner.post(url(tenant, row, "erase_person"), {"understood": "1"}, follow=True)
    assert 'role="status"' in response.content.decode()


def test_a_viewer_sees_neither_button(tenant: Tenant) -> None:
    row = talk(tenant, "Hi", guest="1", name="Giulia Ferri")
    page = browser(member_of(tenant, Role.VIEWER)).get(url(tenant, row, "person")).content.decode()
    assert "Erase" not in page
    assert "export" not in page


def download(tenant: Tenant, row: Conversation) -> zipfile.ZipFile:
    async def read() -> bytes:
        client = AsyncClient()
        await client.aforce_login(tenant.owner)
        response = await client.get(url(tenant, row, "export_person"))
        return b"".join([piece async for piece in response])

    return zipfile.ZipFile(io.BytesIO(asyncio.run(read())))


def test_the_export_button_downloads_a_zip_file(tenant: Tenant) -> None:
    row = talk(tenant, "Hi", guest="1", name="Giulia Ferri")
    assert "Giulia Ferri" in download(tenant, row).read("index.html").decode()


@pytest.mark.parametrize("adapter", ["outbox", "twilio"])
def test_the_exported_page_calls_no_message_in_the_outbox_done(tenant: Tenant, adapter: str) -> None:
    row = talk(tenant, "Hi", guest="1", name="Giulia Ferri")
    add_effect(tenant, row, adapter=adapter)
    found = download(tenant, row)
    [page] = [
        found.read(name).decode()
        for name in found.namelist()
        if name.startswith("conversations/0001") and name.endswith(".html")
    ]
    assert (str(EffectState.DONE.label) in page) == (adapter != "outbox")
