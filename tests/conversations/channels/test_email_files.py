"""Files of e-mails: kept with the message, checked and attached once by a job, whatever brought the e-mail."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from conversations.channels import fetching
from conversations.channels.mail.message import item_of
from conversations.channels.mail.mime import read_mime
from conversations.models import Attachment, Conversation, DeliveredFile, Message
from conversations.turns.flags import flag_reasons
from jobs import claims
from jobs.lanes import lane_of
from jobs.models import Job
from jobs.services import fail_job, run_again
from projects.models.attribute_catalogue import STORAGE_LIMIT
from tests.conversations.channels.files import JPEG, PDF, SVG, ZIP, until_read
from tests.conversations.channels.mailbox import ANNA, Mailbox
from tests.conversations.channels.test_mail_parts import attach, letter, png
from tests.processes import ForkServer, ScriptedModel, until

# A name, what it is said to be, and the content.
File = tuple[str, str, bytes]
FILES: Sequence[File] = (
    ("offer.pdf", "application/pdf", PDF * 100_000),
    ("list.txt", "text/plain", "Grüße".encode()),
    ("table.jpg", "image/jpeg", JPEG),
)


def by_postmark(mailbox: Mailbox, text: str, files: Sequence[File], **changes: Any) -> None:
    listed = [
        {"Name": name, "ContentType": kind, "Content": b64encode(content).decode(), "ContentLength": len(content)}
        for name, kind, content in files
    ]
    mailbox.write(text, subject="Re: x", Attachments=listed, **changes)


def by_mailgun(mailbox: Mailbox, text: str, files: Sequence[File]) -> None:
    mailbox.connect("mailgun")
    sent = [SimpleUploadedFile(name, content, content_type=kind) for name, kind, content in files]
    answer = mailbox.post_form(mailbox.form(text, subject="Re: x"), files=sent)
    assert answer.status_code == 200, answer.content


def by_mime(mailbox: Mailbox, text: str, files: Sequence[File]) -> None:
    """As a mailbox's look stores it."""
    from conversations.channels.incoming import Account, open_connection, store_item
    from conversations.channels.registry import PROVIDERS
    from tenancy.tenant_lookup import ProjectRef

    mail = letter(text)
    for name, kind, content in files:
        attach(mail, content, name, kind)
    project = mailbox.tenant.project
    ref = ProjectRef(project.organization_id, project.pk)
    connection = open_connection(ref, "email")
    assert connection is not None
    store_item(Account(ref, PROVIDERS["email"], connection), item_of(read_mime(mail.as_bytes()), own_address="x@y.z"))


@pytest.mark.standing_worker
@pytest.mark.parametrize("bring", [by_postmark, by_mailgun, by_mime])
def test_files_are_attached_and_the_reply_sees_them(
    bring: Callable[..., None], mailbox: Mailbox, worker: object, model: ScriptedModel
) -> None:
    bring(mailbox, "Is this right?", FILES)
    mailbox.until_sent()
    [message] = mailbox.rows(Message, role="user")
    assert message.content == "Is this right?\n[File: offer.pdf]\n[File: list.txt]\n[File: table.jpg]"
    rows = {str(row.pk): row for row in mailbox.rows(Attachment)}
    kept = [(rows[one["id"]].name, rows[one["id"]].content_type) for one in message.attachments]
    assert kept == [(name, kind) for name, kind, _ in FILES]
    sizes = [rows[one["id"]].size for one in message.attachments]
    assert sizes == [len(content) for _, _, content in FILES]
    assert mailbox.rows(DeliveredFile) == []
    asked = model.requests("reply")
    assert {(one["pictures"], "offer.pdf" in str(one["messages"])) for one in asked} == {(1, True)}


def test_the_webhook_stores_the_files_and_attaches_nothing(mailbox: Mailbox) -> None:
    by_postmark(mailbox, "Look.", FILES)
    kept = [(row.number, bytes(row.content)) for row in mailbox.rows(DeliveredFile)]
    assert sorted(kept) == [(number, content) for number, (_, _, content) in enumerate(FILES)]
    assert (mailbox.rows(Attachment), len(mailbox.rows(Job, lane=fetching.LANE))) == ([], 1)


def test_a_repeated_email_keeps_its_files_once(mailbox: Mailbox) -> None:
    for _ in range(3):
        by_postmark(mailbox, "Look.", FILES, id="<same@example.org>")
    assert (len(mailbox.rows(DeliveredFile)), len(mailbox.rows(Job, lane=fetching.LANE))) == (3, 1)


@pytest.mark.standing_worker
@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (("photo.png", "image/png", b"<html><script>alert(1)</script></html>"), "what it was sent as"),
        (("logo.svg", "image/svg+xml", SVG), "what it was sent as"),
        (("bomb.zip", "application/zip", ZIP), "PDFs and texts can be"),
        (("offer.pdf", "application/pdf", b"MZ\x90\x00" + bytes(90)), "PDFs and texts can be"),
        (("empty.txt", "text/plain", b""), "empty"),
    ],
    ids=["lying kind", "SVG", "archive", "program", "empty"],
)
def test_a_file_that_is_not_kept_leaves_a_sentence(
    file: File, reason: str, mailbox: Mailbox, worker: object, model: ScriptedModel
) -> None:
    by_postmark(mailbox, "Look.", [file])
    message = until_read(mailbox.tenant)
    assert (message.attachments, mailbox.rows(Attachment), mailbox.rows(DeliveredFile)) == ([], [], [])
    assert message.content.startswith(f"Look.\n[File: {file[0]}, which can’t be read here: ")
    assert reason in message.content


@pytest.mark.parametrize("content", [None, 1, "%%%", "A", "\ud800"])
def test_an_undecodable_attachment_breaks_nothing(content: Any, mailbox: Mailbox) -> None:
    file = {"Name": "a.pdf", "ContentType": "application/pdf", "Content": content}
    assert mailbox.post(mailbox.mail(Attachments=[file])).status_code == 200
    assert mailbox.words() == ["A table\n\nDo you have a table?\n[File: a.pdf]"]


def test_a_picture_of_the_page_is_kept_and_a_pixel_isnt(mailbox: Mailbox) -> None:
    html = '<p>Look: <img src="cid:shot@x"><img src="cid:pixel@x"></p>'
    listed = [
        {"Name": name, "ContentType": "image/png", "Content": b64encode(content).decode(), "ContentID": f"<{id}>"}
        for name, content, id in (("shot.png", png(), "shot@x"), ("pixel.png", png(1, 1), "pixel@x"))
    ]
    mailbox.write("Look:", subject="Re: x", HtmlBody=html, Attachments=listed)
    assert mailbox.words() == ["Look:\n[File: shot.png]"]
    mailbox.connect("mailgun")
    sent = [
        SimpleUploadedFile(one["Name"], content, "image/png")
        for one, content in zip(listed, (png(), png(1, 1)), strict=True)
    ]
    shown = json.dumps({"<shot@x>": "attachment-1", "<pixel@x>": "attachment-2"})
    form = mailbox.form("Look:", subject="Re: x", **{"body-html": html, "content-id-map": shown})
    assert mailbox.post_form(form, files=sent).status_code == 200
    assert mailbox.words()[1] == "Look:\n[File: shot.png]"


@pytest.mark.standing_worker
def test_whoever_wrote_in_the_thread_is_still_named(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    mailbox.write()
    [sent] = mailbox.until_sent()
    reply = [("In-Reply-To", sent["Message-ID"])]
    by_postmark(mailbox, "Mine.", FILES[:1], sender="bob@example.net", headers=reply, is_proven=False)
    until(lambda: len(mailbox.rows(Attachment)) == 1, what="the file")
    assert mailbox.words()[1] == "[bob@example.net (unproven) wrote:] Mine.\n[File: offer.pdf]"


@pytest.mark.short_leases
def test_a_worker_that_dies_while_it_attaches_is_followed_by_another(
    mailbox: Mailbox, processes: ForkServer, model: ScriptedModel
) -> None:
    by_postmark(mailbox, "Look.", FILES)
    doomed = processes.worker(crash_at="channel_files.fetched_pre_commit:1")
    doomed.wait()
    assert (mailbox.rows(Attachment), len(mailbox.rows(DeliveredFile))) == ([], 3)
    processes.worker()
    mailbox.until_sent()
    assert (len(mailbox.rows(Attachment)), mailbox.rows(DeliveredFile)) == (3, [])
    [message] = mailbox.rows(Message, role="user")
    assert len(message.attachments) == 3
    assert [one.recipients for one in mailbox.received] == [[ANNA]]


def test_a_file_of_a_disconnected_mailbox_is_attached_all_the_same(mailbox: Mailbox, request: Any) -> None:
    by_postmark(mailbox, "Look.", FILES)
    mailbox.api.delete("/api/v1/channels/email")
    request.getfixturevalue("worker")
    assert len(until_read(mailbox.tenant).attachments) == 3


def test_a_file_that_just_fits_the_storage_is_attached(mailbox: Mailbox, request: Any) -> None:
    """It isn't counted twice at the moment when it is attached."""
    answer = mailbox.api.put(f"/api/v1/attributes/{STORAGE_LIMIT}", {"value": 1}, content_type="application/json")
    assert answer.status_code < 300, answer.content
    by_postmark(mailbox, "Look.", [("offer.pdf", "application/pdf", PDF.ljust(900_000))])
    request.getfixturevalue("worker")
    assert len(until_read(mailbox.tenant).attachments) == 1


def fails_for_good(mailbox: Mailbox) -> None:
    """As after five workers that died of it."""
    [job] = claims.claim([lane_of("channel_files")], limit=1)
    fail_job(job, reason="The worker that ran this died 5 times in a row.")


def test_files_that_were_not_attached_are_kept_until_staff_tries_again(mailbox: Mailbox, request: Any) -> None:
    by_postmark(mailbox, "Look.", FILES[:1])
    fails_for_good(mailbox)
    tenant = mailbox.tenant
    [message], [job], [row] = mailbox.rows(Message), mailbox.rows(Job, lane="channel_files"), mailbox.rows(Conversation)
    assert message.content == "Look.\n[File: offer.pdf, which can’t be read here: fetching it failed.]"
    assert (len(mailbox.rows(DeliveredFile)), row.flag.partition(".")[0]) == (
        1,
        f"The files of message {message.seq} are not attached",
    )
    with tenant.tx():
        run_again(tenant.project, job.pk)
    request.getfixturevalue("worker")
    until(lambda: len(mailbox.rows(Attachment)) == 1, what="the file")
    [message], [row] = mailbox.rows(Message, role="user"), mailbox.rows(Conversation)
    assert (message.content, [one["name"] for one in message.attachments]) == (
        "Look.\n[File: offer.pdf]",
        ["offer.pdf"],
    )
    assert (row.flag, mailbox.rows(DeliveredFile)) == ("", [])


def test_files_that_fail_twice_say_so_once(mailbox: Mailbox) -> None:
    by_postmark(mailbox, "Look.", FILES[:1])
    fails_for_good(mailbox)
    [job] = mailbox.rows(Job, lane="channel_files")
    with mailbox.tenant.tx():
        run_again(mailbox.tenant.project, job.pk)
    fails_for_good(mailbox)
    [message], [row] = mailbox.rows(Message), mailbox.rows(Conversation)
    with mailbox.tenant.tx():
        reasons = flag_reasons(row)
    assert (message.content.count("[File: "), len(reasons), len(mailbox.rows(DeliveredFile))) == (1, 1, 1)
