"""Files in operators' answers: uploaded, sent, and opened by their signed address."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from conversations.common.attachment_links import attachment_url
from conversations.handover.attachments import MAX_BYTES, MAX_UNSENT, delete_unsent
from conversations.handover.file_types import detect_type, safe_name
from conversations.handover.image_size import pixels_of
from conversations.handover.operators import take_over
from conversations.models import Attachment, Conversation
from conversations.widget.event_filter import message_shown
from tests.conftest import Tenant
from tests.console.pages.conftest import talk

JSON = {"content_type": "application/json"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"


@pytest.fixture
def row(tenant: Tenant) -> Conversation:
    """A conversation that the owner has taken over; the key acts for the owner."""
    row = talk(tenant, "Hi")
    with tenant.tx():
        take_over(row.pk, by=tenant.owner)
    return row


def upload(api: Client, row: Conversation, content: bytes, name: str = "menu.pdf") -> Any:
    address = f"/api/v1/conversations/{row.pk}/attachments?name={name}"
    return api.post(address, content, content_type="application/octet-stream")


def send(api: Client, row: Conversation, *ids: str, content: str = "Here it is.") -> Any:
    body = {"content": content, "attachments": list(ids)}
    return api.post(f"/api/v1/conversations/{row.pk}/operator-messages", body, **JSON)


def path_of(url: str) -> str:
    return "/files/" + url.rpartition("/")[2]


def test_a_file_is_uploaded_sent_and_opened_without_signing_in(api: Client, row: Conversation) -> None:
    uploaded = upload(api, row, PDF)
    file = uploaded.json()
    assert (uploaded.status_code, file["name"], file["content_type"], file["size"]) == (
        *(201, "menu.pdf"),
        *("application/pdf", len(PDF)),
    )
    sent = send(api, row, file["id"])
    assert (sent.status_code, sent.json()["attachments"]) == (201, [file])
    results = api.get(f"/api/v1/conversations/{row.pk}/messages").json()["results"]
    assert [message["attachments"] for message in results if message["role"] == "operator"] == [[file]]
    assert [message["attachments"] for message in results if message["role"] == "user"] == [[]]
    opened = Client().get(path_of(file["url"]))
    assert (opened.status_code, opened.content, opened["Content-Type"]) == (200, PDF, "application/pdf")


@pytest.mark.parametrize(
    ("content", "name", "disposition", "content_type"),
    [
        (PNG, "a.png", 'inline; filename="a.png"', "image/png"),
        (PDF, "a.pdf", 'attachment; filename="a.pdf"', "application/pdf"),
        (b"<script>alert(1)</script>", "a.html", 'attachment; filename="a.html.txt"', "text/plain; charset=utf-8"),
    ],
)
def test_a_file_is_served_so_that_no_browser_runs_it(
    api: Client, row: Conversation, content: bytes, name: str, disposition: str, content_type: str
) -> None:
    opened = Client().get(path_of(upload(api, row, content, name).json()["url"]))
    assert (opened["Content-Disposition"], opened["Content-Type"]) == (disposition, content_type)
    assert opened["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in opened["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty_file"),
        (b"MZ\x90\x00", "file_type_not_allowed"),
        (b"PK\x03\x04", "file_type_not_allowed"),
        (b"\xff\xfe\x00", "file_type_not_allowed"),
        (b"a\x00b", "file_type_not_allowed"),
    ],
)
def test_a_file_that_cannot_be_attached_is_refused_by_name(
    tenant: Tenant, api: Client, row: Conversation, content: bytes, code: str
) -> None:
    refused = upload(api, row, content, "report.pdf")
    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (422, code)
    assert error["message"].startswith("report.pdf ")
    with tenant.tx():
        assert not Attachment.objects.exists()


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "logo.svg", "file_type_not_allowed"),
        (b"Hello", "menu.pdf", "file_type_differs"),
        (PNG, "menu.pdf", "file_type_differs"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_refused_to_staff_too(
    api: Client, row: Conversation, content: bytes, name: str, code: str
) -> None:
    """The customer would get a logo.svg.txt."""
    assert upload(api, row, content, name).json()["error"]["code"] == code


def test_a_file_of_ten_megabytes_is_taken_and_one_byte_more_is_not(api: Client, row: Conversation) -> None:
    assert upload(api, row, PNG.ljust(MAX_BYTES, b"\0"), "a.png").json()["size"] == MAX_BYTES
    assert upload(api, row, PNG.ljust(MAX_BYTES + 1, b"\0"), "a.png").status_code in (413, 422)


def test_the_type_is_that_of_the_content() -> None:
    assert detect_type(b"\xff\xd8\xff\xe0") == "image/jpeg"
    assert detect_type(b"GIF89a") == "image/gif"
    assert detect_type(b"RIFF\x00\x00\x00\x00WEBPVP8 ") == "image/webp"
    assert detect_type("Größe;1\r\n".encode()) == "text/plain"
    assert detect_type(b"<svg xmlns='http://www.w3.org/2000/svg'/>") == "text/plain"


@pytest.mark.parametrize(
    ("given", "content_type", "shown"),
    [
        ("../../etc/passwd", "text/plain", "passwd.txt"),
        ("C:\\Users\\me\\menu.PDF", "application/pdf", "menu.PDF"),
        ("photo.exe", "image/png", "photo.exe.png"),
        ("a\u202egnp.exe", "image/png", "agnp.exe.png"),
        (".htaccess", "text/plain", "htaccess.txt"),
        ("", "image/gif", "file.gif"),
        ("x" * 300 + ".csv", "text/plain", "x" * 116 + ".csv"),
    ],
)
def test_a_name_has_no_path_and_the_ending_of_its_type(given: str, content_type: str, shown: str) -> None:
    assert safe_name(given, content_type) == shown


def test_a_file_is_sent_once_and_only_in_its_conversation(tenant: Tenant, api: Client, row: Conversation) -> None:
    other = talk(tenant, "Hi", guest="other")
    with tenant.tx():
        take_over(other.pk, by=tenant.owner)
    id = upload(api, row, PNG, "a.png").json()["id"]
    assert send(api, other, id).json()["error"]["code"] == "invalid_attachment"
    assert send(api, row, id, id).status_code == 201
    assert send(api, row, id).json()["error"]["field"] == "attachments"
    assert send(api, row, str(uuid4())).status_code == 422


def test_an_answer_has_at_most_five_files(api: Client, row: Conversation) -> None:
    ids = [upload(api, row, PNG, f"{number}.png").json()["id"] for number in range(6)]
    assert send(api, row, *ids).status_code == 400
    sent = send(api, row, *ids[4::-1]).json()
    assert [file["id"] for file in sent["attachments"]] == ids[4::-1]


def head_of(content_type: str, side: int) -> bytes:
    """The head of a square image."""
    less = (side - 1).to_bytes(3, "little")
    return {
        "image/png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + side.to_bytes(4) * 2,
        "image/gif": b"GIF89a" + side.to_bytes(2, "little") * 2,
        "image/webp": b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + less * 2,
        "image/jpeg": b"\xff\xd8\xff\xe0\0\x04\0\0\xff\xc2\0\x0b\x08" + side.to_bytes(2) * 2 + bytes(4),
    }[content_type]


@pytest.mark.parametrize("content_type", ["image/png", "image/gif", "image/webp", "image/jpeg"])
def test_an_image_that_would_fill_the_memory_is_refused(api: Client, row: Conversation, content_type: str) -> None:
    bomb, photo = head_of(content_type, 10_001), head_of(content_type, 10_000)
    assert detect_type(bomb) == content_type
    assert upload(api, row, bomb, "a").json()["error"]["code"] == "image_too_large"
    assert upload(api, row, photo, "a").status_code == 201
    assert pixels_of(photo[:8]) == 0


def test_webp_has_three_forms() -> None:
    head = b"RIFF\0\0\0\0WEBP"
    lossless = (3 - 1) | (2 - 1) << 14
    assert pixels_of(head + b"VP8L\0\0\0\0\x2f" + lossless.to_bytes(4, "little")) == 6
    assert pixels_of(head + b"VP8 " + bytes(10) + b"\x03\0\x02\0") == 6


def test_too_many_unsent_files_are_a_conflict(tenant: Tenant, api: Client, row: Conversation) -> None:
    with tenant.tx():
        Attachment.objects.bulk_create(
            [
                Attachment(
                    conversation=row,
                    uploaded_by=tenant.owner,
                    name="a",
                    content_type="text/plain",
                    size=1,
                    content=b"a",
                )
                for _ in range(MAX_UNSENT)
            ]
        )
    assert upload(api, row, PDF).status_code == 409


def test_unsent_files_are_deleted_after_a_day_and_sent_ones_stay(
    tenant: Tenant, api: Client, row: Conversation
) -> None:
    sent, fresh, _ = (upload(api, row, PNG, f"{name}.png").json()["id"] for name in ("sent", "fresh", "old"))
    send(api, row, sent)
    with tenant.tx():
        a_day_ago = timezone.now() - timedelta(hours=25)
        Attachment.objects.exclude(pk=fresh).update(created_at=a_day_ago)
    delete_unsent()
    with tenant.tx():
        assert {str(pk) for pk in Attachment.objects.values_list("pk", flat=True)} == {sent, fresh}
    assert Client().get(path_of(attachment_url(tenant.organization.pk, uuid4()))).status_code == 404


def test_an_address_of_another_tenant_or_a_changed_one_opens_nothing(
    tenant: Tenant, api: Client, row: Conversation, stranger: Tenant
) -> None:
    file = upload(api, row, PDF).json()
    with tenant.tx():
        attachment = Attachment.objects.get()
    assert Client().get(path_of(attachment_url(stranger.organization.pk, attachment.pk))).status_code == 404
    token = path_of(file["url"])
    assert Client().get(token).status_code == 200
    changed = token[:-3] + ("A" if token[-3] != "A" else "B") + token[-2:]
    assert Client().get(changed).status_code == 404
    assert Client().get("/files/nothing").status_code == 404


def test_the_widgets_customer_gets_the_files_and_nothing_of_who_uploaded_them(
    tenant: Tenant, api: Client, row: Conversation
) -> None:
    file = upload(api, row, PNG, "a.png").json()
    shown = message_shown(send(api, row, file["id"]).json())
    assert shown["attachments"] == [file]
    assert set(file) == {"id", "name", "content_type", "size", "url"}
    assert tenant.owner.email not in json.dumps(shown)
