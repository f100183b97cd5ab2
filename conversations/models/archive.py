"""Archived transcripts."""

from __future__ import annotations

import json
import zlib
from functools import cached_property
from typing import Any, TypeVar
from uuid import UUID

from django.db import models

from conversations.models.message import Message
from conversations.models.turn import Turn
from tenancy.tenant_models import TenantForeignKey, TenantModel

M = TypeVar("M", bound=models.Model)
LEVEL = 6


class CompressedField(models.BinaryField):  # type: ignore[type-arg]  # Django's class has no parameters
    """A value of JSON, compressed."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return None if value is None else json.loads(zlib.decompress(bytes(value)))

    def get_prep_value(self, value: Any) -> bytes:
        return zlib.compress(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), LEVEL)


class ArchivedTranscript(TenantModel):
    """The transcript of a conversation that has long been quiet, in one row (`conversations.live.archive`).

    `content` holds rows by the name of their table, and, as `turns`, the ids of each turn's message and reply. `text` is
    what its messages say, for the search, and `bytes` their size, which counts as storage.
    """

    conversation = TenantForeignKey("conversations.Conversation", related_name="archives", db_index=False)
    content = CompressedField()
    text = models.TextField(default="")
    bytes = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "conversation"], name="one_archive")]
        # For the search, which reads from the newest.
        indexes = [models.Index(fields=["organization", "id"], name="archive_newest")]

    def __str__(self) -> str:
        return f"archive of {self.conversation_id}"

    def rows_of(self, model: type[M]) -> list[M]:
        """The rows of one table, oldest first. They aren't stored."""
        fields = {field.attname: field for field in model._meta.concrete_fields}
        return [
            model(**{name: fields[name].to_python(value) for name, value in row.items() if name in fields})
            for row in self.content.get(model._meta.db_table, [])
        ]

    def ids_of(self, turn_id: UUID) -> dict[str, UUID]:
        """The ids of a turn's archived message and reply, by the turn's columns."""
        ids = zip(("message_id", "reply_id"), self.content["turns"].get(str(turn_id), ()), strict=False)
        return {column: UUID(found) for column, found in ids if found}

    def complete(self, turn: Turn) -> None:
        """Give a turn its archived message and reply."""
        ids = self.ids_of(turn.pk)
        turn.message_id = ids.get("message_id", turn.message_id)
        if reply := self._messages.get(ids.get("reply_id")):
            turn.reply = reply

    @cached_property
    def _messages(self) -> dict[UUID | None, Message]:
        return {message.pk: message for message in self.rows_of(Message)}
