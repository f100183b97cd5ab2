"""Suggests a standing rule for a tool that a member keeps approving unchanged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.prepared_queries import PreparedValues
from todos.models import Approval, StandingRule
from tools.engine.tool_words import title_of_tool

LOOKED_AT = 300
ENOUGH = 10


@dataclass(frozen=True)
class RuleSuggestion:
    """A tool whose todos a member approved `count` times without changes. `todo_id` is the newest of them."""

    tool: str
    title: str
    count: int
    todo_id: UUID


def suggest_rule(entry: Entry) -> RuleSuggestion | None:
    """The tool that the member approves most and that has no rule yet. None for members who can't create rules."""
    if not entry.may(Scope.CONFIGURE):
        return None
    mine = [row for row in _NEWEST(entry.project.pk) if row[3] == entry.member.pk and row[1] and not row[4]]
    changed = {tool for _, tool, version, *_ in mine if version > 1}
    known = {tool for (tool,) in _RULED(entry.project.pk)}
    counts = Counter(tool for _, tool, *_ in mine if tool not in changed | known)
    tool, count = max(counts.items(), key=lambda item: item[1], default=("", 0))
    if count < ENOUGH:
        return None
    return RuleSuggestion(tool, title_of_tool(tool), count, next(row[0] for row in mine if row[1] == tool))


_NEWEST = PreparedValues(
    lambda project: (
        Approval.objects.filter(todo__project_id=project)
        .order_by("-id")
        .values_list("todo_id", "todo__tool", "version", "approved_by", "needs_second")[:LOOKED_AT]
    ),
    kinds=(UUID,),
)
_RULED = PreparedValues(
    lambda project: StandingRule.objects.filter(project_id=project, ended_at=None).values_list("tool"), kinds=(UUID,)
)
