"""One action on many conversations, each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from conversations.models import Conversation
from projects.common.api_error import NOTHING_HERE, ApiError
from tenancy.scope import tenant_tx

MAX_CONVERSATIONS = 200
# Changes one conversation inside the tenant's transaction. Returns False if nothing changed.
Change = Callable[[UUID], bool]


@dataclass(frozen=True)
class Refused:
    """A conversation that was left as it was, and why."""

    conversation_id: UUID
    code: str
    message: str


@dataclass(frozen=True)
class BulkResult:
    """The numbers of changed conversations and of those that were so already, and the refusals."""

    changed: int
    unchanged: int
    refused: Sequence[Refused]


def change_each(
    conversations: Sequence[UUID], change: Change, *, organization_id: UUID, project_id: UUID
) -> BulkResult:
    """Change each of the project's conversations. One that is refused doesn't affect the others.

    No transaction may be open: the locks of 200 conversations would be held until the last.
    """
    outcomes = list[bool]()
    refused = list[Refused]()
    for conversation_id in dict.fromkeys(conversations):
        try:
            with tenant_tx(organization_id):
                outcomes.append(_change(conversation_id, change, project_id=project_id))
        except ApiError as error:
            refused.append(Refused(conversation_id, error.code, error.message))
    return BulkResult(outcomes.count(True), outcomes.count(False), refused)


def _change(conversation_id: UUID, change: Change, *, project_id: UUID) -> bool:
    if not Conversation.objects.filter(project_id=project_id, pk=conversation_id).exists():
        raise ApiError("not_found", NOTHING_HERE, status=404)
    return change(conversation_id)
