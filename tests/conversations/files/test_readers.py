"""Readers: whoever needs a content gets it from its place: the model, a messenger, an export. A place that is away stops none of them."""

from __future__ import annotations

import asyncio
import io
import zipfile
from dataclasses import replace
from typing import Any

import pytest

from conversations.channels.mail.enclosed import EnclosedFile, read_enclosed
from conversations.channels.outgoing_files import find_file, send_part
from conversations.channels.provider import OutgoingPart
from conversations.context.pictures import FoundPicture, with_pictures
from conversations.files.contents import Content, content_of
from conversations.files.places import FilesUnavailable
from conversations.handover.attachments import stored_attachment
from llm.types import ChatRequest, Picture
from llm.wire import UNSEEN
from privacy.export.customer import CustomerExport
from tests.conversations.files.conftest import PNG, Files
from tests.file_places import set_file_places
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.messaging.base import EmailFile

pytestmark = pytest.mark.parametrize("place", ["folder"], indirect=True)
MESSAGES = [{"role": "system", "content": "You are Ada."}, {"role": "user", "content": "[File: room.png]"}]


class Messenger:
    """A provider that notes what it is given."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    async def send(self, connection: object, part: OutgoingPart) -> Outcome:
        assert part.file is not None
        self.sent.append(part.file.content)
        return Outcome.done("")


@pytest.fixture
def kept(files: Files) -> Content:
    return content_of(files.row(files.keep()))


@pytest.fixture
def take_away(files: Files, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    """Take the place out of MAKEGOOD_FILES."""
    return lambda: set_file_places(monkeypatch, settings, "postgresql:")


def seen(content: Content) -> ChatRequest:
    request = ChatRequest(skill="reply", template_hash="", model=None, messages=MESSAGES)
    return asyncio.run(with_pictures(request, [FoundPicture("image/png", content)]))


def test_a_model_sees_a_picture_from_its_place(kept: Content) -> None:
    assert seen(kept).pictures == [Picture("image/png", PNG)]


def test_a_model_is_told_that_it_cannot_see_pictures_that_are_away(kept: Content, take_away: Any) -> None:
    take_away()
    request = seen(kept)
    assert (list(request.pictures), UNSEEN in request.messages[-1]["content"]) == ([], True)


def send(files: Files, messenger: Messenger) -> Outcome:
    row = files.row(files.keep())
    with files.tenant.tx():
        file = find_file(stored_attachment(row))
    part = OutgoingPart(chat_id="77", text="", key="k", file=file)
    return asyncio.run(send_part(messenger, None, part))


def test_a_messenger_gets_the_content(files: Files) -> None:
    messenger = Messenger()
    assert send(files, messenger).ending is Ending.DONE
    assert messenger.sent == [PNG]


def test_a_file_that_is_away_is_sent_later(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(content: Content) -> bytes:
        raise FilesUnavailable("s3://shop can't be used")

    monkeypatch.setattr("conversations.channels.outgoing_files.fetch", fail)
    messenger = Messenger()
    outcome = send(files, messenger)
    assert (outcome.ending, messenger.sent) == (Ending.NOT_SENT, [])
    assert outcome.retry_after_seconds


def test_an_email_gets_the_content_and_leaves_out_one_that_is_gone(files: Files, kept: Content) -> None:
    gone = replace(kept, name="gone/gone")
    enclosed = [EnclosedFile("room.png", "image/png", one, "") for one in (kept, gone)]
    assert asyncio.run(read_enclosed(enclosed)) == [EmailFile("room.png", "image/png", PNG)]


def export(files: Files) -> dict[str, bytes]:
    tenant, row = files.tenant, files.conversation
    made = CustomerExport(tenant.organization.pk, tenant.project.pk, row.persona_id, authorize=lambda: None)
    with zipfile.ZipFile(io.BytesIO(b"".join(made.pieces()))) as found:
        return {name: found.read(name) for name in found.namelist() if name.startswith("files/")}


def test_an_export_has_contents_from_their_place(files: Files, kept: Content) -> None:
    assert list(export(files).values()) == [PNG]


def test_an_export_breaks_off_rather_than_leave_a_file_out(files: Files, kept: Content, take_away: Any) -> None:
    take_away()
    with pytest.raises(FilesUnavailable):
        export(files)


def test_an_export_names_a_content_that_is_gone(files: Files, kept: Content) -> None:
    files.place.put(kept.name, None)
    assert [name.endswith(".missing.txt") for name in export(files)] == [True]
