"""Words and function calls of a gap, read back from a call's session as far as the provider gives them.

The provider returns an item only by its id. Two kinds of ids are known: those of the caller's speech, which is reported when
it begins, and the newest item's, which each new item names as its predecessor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from conversations.calls.store import CallRecord
from conversations.calls.transcript import LONGEST
from conversations.voice.reports import Report, ReportType
from llm.realtime import ControlConnection

PATIENCE_SECONDS = 3.0
# The ids of items that only guide the model's next words begin with this. They ask for no answer.
QUIET = "mg_quiet_"
CUT_OFF = "The line was cut for a moment. If you called a tool and got no result, call it again."
_KINDS = {"user": ReportType.CALLER_SAID, "assistant": ReportType.AGENT_SAID}

Item = Mapping[str, Any]


@dataclass(frozen=True)
class ReadBack:
    """Items of a session that are not on record. `calls` are function calls without a result on record.

    `has_missing_words` is true if more may have been said than could be read. `last_speaker` is who spoke last, `user` or
    `assistant`, if their words are on record or still being said and nothing followed them.
    """

    reports: Sequence[Report] = ()
    calls: Sequence[Item] = ()
    has_missing_words: bool = True
    last_speaker: str = ""


@dataclass
class SessionItems:
    """The items of a session, asked for over its control connection."""

    connection: ControlConnection
    _own_id: str = field(default_factory=lambda: f"mg_again_{uuid4().hex[:20]}")
    _follows: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _asked: dict[str, asyncio.Future[Item | None]] = field(default_factory=dict)

    def take(self, event: Mapping[str, Any]) -> None:
        """An event of the session, which may be an answer."""
        given = event.get("item")
        item: Item = given if isinstance(given, Mapping) else {}
        match event["type"]:
            case "conversation.item.added" if item.get("id") == self._own_id:
                _answer(self._follows, str(event.get("previous_item_id") or ""))
            case "conversation.item.retrieved":
                _answer(self._asked.get(str(item.get("id"))), item)
            case "error":
                error = event.get("error")
                asked = str(error.get("event_id") or "") if isinstance(error, Mapping) else ""
                _answer(self._asked.get(asked.removeprefix("get_")), None)

    async def tell_of_cut(self) -> None:
        """Tell the model that the line was cut. Raises ProviderUnavailable."""
        content = [{"type": "input_text", "text": CUT_OFF}]
        item = {"id": self._own_id, "type": "message", "role": "system", "content": content}
        await self.connection.send({"type": "conversation.item.create", "item": item})

    async def find_newest(self) -> Item | None:
        """Tell the model that the line was cut, and return the item before. Raises ProviderUnavailable."""
        await self.tell_of_cut()
        newest = await self._follows
        return await self.retrieve(newest) if newest else None

    async def retrieve(self, item_id: str) -> Item | None:
        """An item; None if the session doesn't have it. Raises ProviderUnavailable."""
        answer: asyncio.Future[Item | None] = asyncio.get_running_loop().create_future()
        self._asked[item_id] = answer
        request = {"type": "conversation.item.retrieve", "event_id": f"get_{item_id}", "item_id": item_id}
        await self.connection.send(request)
        return await answer


async def read_back(items: SessionItems, record: CallRecord) -> ReadBack:
    """Read what the session holds beyond the record, within a limit. Raises ProviderUnavailable.

    Nothing is read after keepers that got nowhere: an item may be too large for the connection.
    """
    if record.was_cut_again:
        await items.tell_of_cut()
        return ReadBack()
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            newest = await items.find_newest()
            speech = [await items.retrieve(one) for one in record.begun if newest is None or one != newest.get("id")]
            return _compare([*(one for one in speech if one is not None), *([newest] if newest else [])], record)
    return ReadBack()


def _compare(found: Sequence[Item], record: CallRecord) -> ReadBack:
    newest: Item = found[-1] if found else {}
    speaker = str(newest.get("role")) if newest.get("role") in _KINDS else ""
    is_known = str(newest.get("id")) in record.said or newest.get("status") == "in_progress"
    reports = [report for item in found if (report := report_of(item)) is not None and report.id not in record.said]
    if str(newest.get("id")).startswith(QUIET):
        speaker, is_known = record.last_speaker, True
    return ReadBack(
        reports=reports,
        calls=[newest] if newest.get("type") == "function_call" else [],
        has_missing_words=bool(reports) or bool(speaker and not is_known),
        last_speaker=speaker if is_known else "",
    )


def report_of(item: Item) -> Report | None:
    """Report of the words of an item; None if it is no speech, isn't finished, or has no words."""
    kind, item_id = _KINDS.get(str(item.get("role"))), str(item.get("id") or "")[:200]
    text = " ".join(filter(None, (_words(part) for part in item.get("content") or [])))[:LONGEST]
    is_over = item.get("status", "completed") != "in_progress"
    return Report(item_id, kind, text=text) if kind is not None and item_id and text and is_over else None


def _words(part: Any) -> str:
    return str(part.get("transcript") or part.get("text") or "").strip() if isinstance(part, Mapping) else ""


def _answer(waiting: asyncio.Future[Any] | None, found: Any) -> None:
    if waiting is not None and not waiting.done():
        waiting.set_result(found)
