"""The CSV of promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from console.access import zone_of
from console.csv_export import Batch, CsvList, page_by_id
from console.promises.figures import promises_of
from console.promises.rows import EVIDENCE, find_promises, state_of, taker_of, todo_of, todos_for
from console.promises.views import parse_query
from conversations.common.customer_names import customer_names
from conversations.models import Conversation
from projects.models.permissions import Entry
from tools.models import Evidence, Promise, PromiseOwner, PromiseState


@dataclass(frozen=True)
class Line:
    """A promise with its conversation, its customer's name, and who has taken it on."""

    promise: Promise
    channel: str
    customer: str
    owner: str


def read_promises(entry: Entry, parameters: QueryDict, after: Any) -> Batch[Line]:
    """The promises that the page's period and filters select."""
    query = parse_query(parameters)
    rows = find_promises(
        promises_of(entry.project, tests=query.tests),
        period=query.period(timezone.now(), timezone=zone_of(entry)),
        state=query.state,
        tool=query.tool,
        spoken=query.conversations(entry.project),
        hour=query.cell.hour,
    )
    found = page_by_id(rows.select_related("effect"), after)
    return Batch(_lines(list(found.rows)), found.next)


def _lines(promises: list[Promise]) -> list[Line]:
    conversations = Conversation.objects.in_bulk({promise.conversation_id for promise in promises})
    names = customer_names({row.persona_id for row in conversations.values()})
    todos = todos_for(promises)
    return [
        Line(
            promise=promise,
            channel=conversation.get_channel_display() if conversation else "",
            customer=names.get(conversation.persona_id, "") if conversation else "",
            owner=taker_of(todo_of(promise, todos)),
        )
        for promise in promises
        for conversation in [conversations.get(promise.conversation_id)]
    ]


def _owner(line: Line) -> str:
    """The side that has to act: a person's name, “Unassigned” if nobody took it on, or the tool. None if it wasn't sent."""
    promise = line.promise
    if promise.state != PromiseState.OPEN or line.owner:
        return line.owner
    if promise.evidence == Evidence.OUTBOX:
        return ""
    return "Unassigned" if promise.owner == PromiseOwner.STAFF else "Tool"


PROMISES: CsvList[Line] = CsvList(
    name="promises",
    columns={
        "Promise": lambda line: line.promise.quote.strip(),
        "State": lambda line: state_of(line.promise)[2],
        "Customer": lambda line: line.customer,
        "Channel": lambda line: line.channel,
        "Tool": lambda line: line.promise.tool,
        "Owner": _owner,
        "Evidence": lambda line: EVIDENCE.get(line.promise.evidence, ""),
        "Reason": lambda line: line.promise.reason,
        "Made": lambda line: line.promise.created_at,
        "Due": lambda line: line.promise.due_at,
        "Closed": lambda line: line.promise.closed_at,
        "Promise ID": lambda line: line.promise.pk,
        "Conversation ID": lambda line: line.promise.conversation_id,
        "Effect ID": lambda line: line.promise.effect_id,
    },
    read=read_promises,
)
