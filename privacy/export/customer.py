"""Everything about one customer, as JSON and as pages to read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connections
from django.template.loader import render_to_string
from django.utils import timezone
from pydantic_core import to_json

from conversations.common.field_labels import field_label, field_value
from conversations.common.merged import find_persona
from conversations.files.contents import content_of, load
from conversations.files.places import FileGone
from conversations.live.archive import ARCHIVED, find_archive, read_messages
from conversations.models import (
    ArchivedTranscript,
    Attachment,
    ConsentChange,
    ConsentKind,
    Conversation,
    Note,
    Persona,
    PersonaField,
    Turn,
)
from jobs.models import Job, ModelCall
from privacy.export.records import Record, all_records, contents_of, ordered, record, records_of
from privacy.export.zip_stream import ZipStream
from privacy.subjects import conversations_of, ids_of_conversations, ids_outside_conversations, rows_of
from projects.models import Project
from tenancy.scope import tenant_tx
from todos.models import Todo, TodoStatus
from tools.engine.tool_words import title_of_tool
from tools.models import Booking, BookingState, Effect, Promise, Ticket, TicketState
from tools.services.bookings.search import config_of

FORMAT = "makegood-customer/1"
UNSAFE = re.compile(r"[^\w.\- ]+")
# Codes in the records that the pages name.
NAMED = (
    (ConsentChange, "kind", ConsentKind),
    (Booking, "state", BookingState),
    (Ticket, "state", TicketState),
    (Todo, "status", TodoStatus),
)
MISSING = b"The storage doesn't have this file any more.\n"


@dataclass(frozen=True)
class CustomerExport:
    """One download. `authorize` runs before each conversation, and raises if the caller has lost access meanwhile."""

    organization_id: UUID
    project_id: UUID
    persona_id: UUID
    authorize: Callable[[], object] = field(repr=False)

    @property
    def file_name(self) -> str:
        return f"customer-{self.persona_id}-{timezone.now():%Y-%m-%d}.zip"

    def pieces(self) -> Iterator[bytes]:
        """The ZIP file in pieces. Each conversation is read in a transaction of its own."""
        zip_file = ZipStream()
        with tenant_tx(self.organization_id):
            personas = self._personas()
            conversations = list(conversations_of(personas).values_list("pk", flat=True))
            zone = config_of(Project.objects.select_related("agent_version").get(pk=self.project_id)).timezone
        index: list[dict[str, Any]] = []
        for number, conversation_id in enumerate(conversations, start=1):
            self.authorize()
            with tenant_tx(self.organization_id), timezone.override(zone):
                entry = _add_conversation(zip_file, conversation_id, number=number)
            if entry is not None:
                index.append(entry)
                yield from self._files(zip_file, conversation_id=conversation_id)
            yield zip_file.take()
        self.authorize()
        with tenant_tx(self.organization_id), timezone.override(zone):
            waiting = self._waiting(personas)
            _add_customer(
                zip_file, personas, index, [_file(row) for row in ordered(Attachment.objects.filter(**waiting))]
            )
        yield from self._files(zip_file, **waiting)
        yield zip_file.close()

    def _personas(self) -> list[UUID]:
        """The customer, and those merged into them. Without any, they were erased meanwhile."""
        found = find_persona(self.project_id, self.persona_id)
        if found is None:
            return []
        return [found.pk, *found.absorbed.order_by("pk").values_list("pk", flat=True)]

    def _waiting(self, personas: list[UUID]) -> dict[str, Any]:
        """Selects the files that wait for the customer's next message."""
        names = Persona.objects.filter(pk__in=personas).values_list("external_id", flat=True)
        return {"conversation": None, "project_id": self.project_id, "sender__in": list(names)}

    def _files(self, zip_file: ZipStream, **where: Any) -> Iterator[bytes]:
        """These files, each read in a transaction of its own: one may have ten megabytes."""
        with tenant_tx(self.organization_id):
            rows = Attachment.objects.filter(**where).order_by("pk")
            ids = list(rows.values_list("pk", flat=True))
        for pk in ids:
            with tenant_tx(self.organization_id):
                row = Attachment.objects.select_related("object").filter(pk=pk).first()
            if row is not None:
                add_file(zip_file, row)
                yield zip_file.take()


def add_file(zip_file: ZipStream, row: Attachment) -> None:
    """Add a file that was read with its `object`, outside of any transaction.

    Raises FilesUnavailable, which ends the download: a file that is left out would be missed later.
    """
    content = content_of(row)
    if content.inline is None:
        # No connection is held while the storage answers.
        connections.close_all()
    try:
        zip_file.add(file_name(row), load(content))
    except FileGone:
        zip_file.add(f"{file_name(row)}.missing.txt", MISSING)


def file_name(attachment: Attachment) -> str:
    """The file's place in the ZIP file."""
    return f"files/{attachment.pk}-{UNSAFE.sub('_', attachment.name)[-100:]}"


def _add_conversation(zip_file: ZipStream, conversation_id: UUID, *, number: int) -> dict[str, Any] | None:
    conversation = Conversation.objects.filter(pk=conversation_id).first()
    if conversation is None:
        return None
    ids = ids_of_conversations([conversation_id])
    name = f"{number:04}-{conversation.channel}-{conversation.created_at:%Y-%m-%d}"
    files = [_file(row) for row in ordered(rows_of(contents_of(Attachment), ids), without=("content",))]
    apart = (Attachment, ModelCall, Job, Persona, ArchivedTranscript)
    records = {**all_records(ids, apart=apart), "attachments": files}
    if archive := find_archive(conversation):
        _add_archived(records, archive)
    zip_file.add(f"conversations/{name}.json", to_json({"format": FORMAT, **records}, indent=2))
    if calls := records_of(contents_of(ModelCall), ids):
        zip_file.add(f"model-calls/{name}.json", to_json({"format": FORMAT, "model_calls": calls}, indent=2))
    zip_file.add(f"conversations/{name}.html", _page(conversation, files))
    return {
        "id": str(conversation_id),
        "file": name,
        "channel": conversation.get_channel_display(),
        "messages": conversation.last_message,
        "began": timezone.localtime(conversation.created_at),
    }


def _add_archived(records: dict[str, list[Record]], archive: ArchivedTranscript) -> None:
    """Add the archived rows of each table to its others, oldest first, and their ids to the turns."""
    for model in ARCHIVED:
        contents = contents_of(model)
        found = [record(row, contents) for row in archive.rows_of(model)] + records.get(contents.name, [])
        if found:
            records[contents.name] = sorted(found, key=lambda one: str(one["id"]))
    for turn in records.get(contents_of(Turn).name, []):
        turn.update(archive.ids_of(turn["id"]))


def _file(row: Attachment) -> Record:
    return {**record(row, contents_of(Attachment)), "file": file_name(row)}


def _page(conversation: Conversation, files: list[Record]) -> str:
    inside = {"conversation_id": conversation.pk}
    by_message: dict[UUID | None, list[Record]] = {}
    for one in files:
        by_message.setdefault(one["message_id"], []).append(one)
    context = {
        "conversation": conversation,
        "messages": [(message, by_message.get(message.pk, [])) for message in read_messages(conversation)],
        "promises": Promise.objects.filter(**inside).order_by("created_at"),
        "effects": [
            (title_of_tool(effect.tool), effect) for effect in Effect.objects.filter(**inside).order_by("created_at")
        ],
        "todos": Todo.objects.filter(**inside).order_by("created_at"),
        "notes": Note.objects.filter(**inside).order_by("pk"),
    }
    return render_to_string("privacy/export/conversation.html", context)


def _add_customer(zip_file: ZipStream, personas: list[UUID], index: list[dict[str, Any]], files: list[Record]) -> None:
    """Write what belongs to the customer alone, and the page that leads to the rest."""
    ids = ids_outside_conversations(personas)
    records = {**all_records(ids, apart=(ModelCall, Job)), **({"attachments": files} if files else {})}
    document = {"format": FORMAT, "exported_at": timezone.now(), **records, "conversations": index}
    zip_file.add("customer.json", to_json(document, indent=2))
    if calls := records_of(contents_of(ModelCall), ids):
        zip_file.add("model-calls/other.json", to_json({"format": FORMAT, "model_calls": calls}, indent=2))
    context = {
        "exported_at": timezone.now(),
        "personas": Persona.objects.filter(pk__in=personas).order_by("pk"),
        "fields": [
            (field_label(field.key), field_value(field.key, field.value), field.quote)
            for field in PersonaField.objects.filter(persona_id__in=personas).order_by("key")
        ],
        "records": _readable(records),
        "conversations": index,
    }
    zip_file.add("index.html", render_to_string("privacy/export/index.html", context))


def _readable(records: dict[str, list[Record]]) -> dict[str, list[Record]]:
    """The records with names in place of codes."""
    shown = {**records}
    for model, field_name, choices in NAMED:
        name = contents_of(model).name
        shown[name] = [{**one, field_name: choices(one[field_name]).label} for one in records.get(name, [])]
    return shown
