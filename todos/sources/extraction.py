"""Extraction of todos from conversations: the context for the model, and validation of its findings.

A finding is kept only if its quote occurs in the conversation, its type exists, and no todo or tool already covers it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from jobs.errors import WrongState
from projects.models import Project
from todos.content.lifecycle import AGENT
from todos.models import Todo, TodoSource, TodoStatus, TodoType
from todos.models.title import LONGEST_TITLE
from todos.services import TodoChanged, edit_todo, make_todo
from todos.sources.extraction_prompt import Finding, NotedLine
from tools.engine.quotes import contains_words, is_quote_of
from tools.engine.words import normalize_words
from tools.models import Effect

# Per conversation. More findings than this indicate a misbehaving model.
MOST_FINDINGS = 10
LONGEST_DESCRIPTION = 2_000
ADDRESS = re.compile(r"[^\s@<>,;\"]+@[^\s@<>,;\"]+\.[^\s@<>,;\".]+")


@dataclass(frozen=True)
class Source:
    """The conversation to search. `words` is its full text."""

    project: Project
    conversation_id: UUID
    persona_id: UUID
    words: str


def extracted_types(project_id: UUID) -> QuerySet[TodoType]:
    """The types that conversations are searched for, by name."""
    return TodoType.objects.filter(project_id=project_id, is_removed=False, is_extracted=True).order_by("name")


def todos_of(conversation_id: UUID) -> list[Todo]:
    """All todos of a conversation in any status, oldest first."""
    return list(Todo.objects.filter(conversation_id=conversation_id).order_by("created_at", "id"))


def awaits_type(todo: Todo) -> bool:
    """True if a promise's todo still has no type and is pending."""
    return todo.source == TodoSource.PROMISE and todo.type_id is None and todo.status == TodoStatus.PENDING_REVIEW


def noted_lines(todos: Iterable[Todo]) -> list[NotedLine]:
    """The settled todos, as the skill lists them."""
    return [NotedLine(_one_line(one.quote), _one_line(one.description)) for one in todos if not awaits_type(one)]


def store_findings(
    source: Source, findings: Sequence[Finding], *, types: Iterable[TodoType], is_over: bool = True
) -> list[Todo]:
    """Create a todo for each valid finding, or give its type to the promise's todo that it matches.

    Call it with the conversation locked. Before the conversation `is_over`, findings only decide the types of promises.
    """
    by_name = {_type_name(type.name): type for type in types}
    existing, stored = todos_of(source.conversation_id), list[Todo]()
    served_quotes = _served_quotes(source.conversation_id)
    valid = [
        (finding, type)
        for finding in findings[:MOST_FINDINGS]
        if (type := by_name.get(_type_name(finding.type))) and is_quote_of(finding.quote, source.words)
    ]
    promises = _promises_for([finding.quote for finding, _ in valid], [todo for todo in existing if awaits_type(todo)])
    for at, (finding, type) in enumerate(valid):
        if (todo := promises.get(at)) is not None:
            _assign_type(todo, finding, type=type, source=source)
        elif is_over and not any(_overlap(quote, finding.quote) for quote in (*served_quotes, *_quotes_of(existing))):
            todo = _create_todo(source, finding, type=type)
            existing.append(todo)
        else:
            continue
        stored.append(todo)
    return stored


def _promises_for(quotes: Sequence[str], todos: Sequence[Todo]) -> dict[int, Todo]:
    """The promise's todo for each quote that has one, by the quote's place; no todo for two.

    Quotes may share words: the same words come first, then those that share most. Equal quotes go in order.
    """
    words, said = [normalize_words(quote) for quote in quotes], [normalize_words(todo.quote) for todo in todos]
    pairs = sorted(
        (-_likeness(words[at], said[number]), at, number)
        for at, quote in enumerate(quotes)
        for number, todo in enumerate(todos)
        if _overlap(quote, todo.quote)
    )
    found, taken = dict[int, Todo](), set[int]()
    for _, at, number in pairs:
        if at not in found and number not in taken:
            found[at] = todos[number]
            taken.add(number)
    return found


def _likeness(one: str, other: str) -> float:
    """The share of the longer text that the shorter one is, if it stands in it."""
    return min(len(one), len(other)) / max(len(one), len(other))


def _quotes_of(todos: Iterable[Todo]) -> list[str]:
    return [todo.quote for todo in todos]


def _create_todo(source: Source, finding: Finding, *, type: TodoType) -> Todo:
    digest = hashlib.sha256(normalize_words(finding.quote).encode()).hexdigest()[:16]
    return make_todo(
        source.project,
        description=_description(finding),
        title=_title(finding),
        source=TodoSource.EXTRACTION,
        actor=AGENT,
        type=type,
        conversation_id=source.conversation_id,
        persona_id=source.persona_id,
        quote=finding.quote.strip(),
        recipients=_recipients(finding, source),
        source_key=f"extraction:{source.conversation_id}:{digest}",
    )


def _assign_type(todo: Todo, finding: Finding, *, type: TodoType, source: Source) -> None:
    """Give a promise's todo its type and description, unless somebody changed it first."""
    changes = {
        "type": type,
        "description": _description(finding),
        "title": _title(finding),
        "recipients": _recipients(finding, source),
    }
    try:
        edit_todo(todo.pk, changes, actor=AGENT, version=todo.version)
    except (TodoChanged, WrongState):
        return
    todo.refresh_from_db()


def _recipients(finding: Finding, source: Source) -> list[str]:
    """The finding's addresses that occur in the conversation; others are dropped."""
    said = {address.casefold() for address in ADDRESS.findall(source.words)}
    wanted = dict.fromkeys(address.strip() for address in finding.recipients)
    return [address for address in wanted if address.casefold() in said]


def _served_quotes(conversation_id: UUID) -> list[str]:
    rows = Effect.objects.filter(conversation_id=conversation_id).exclude(quote="")
    return list(rows.values_list("quote", flat=True))


def _overlap(one: str, other: str) -> bool:
    """True if one of the quotes stands in the other."""
    return contains_words(one, other) or contains_words(other, one)


def _description(finding: Finding) -> str:
    return finding.description.strip()[:LONGEST_DESCRIPTION] or finding.quote.strip()


def _title(finding: Finding) -> str:
    """The finding's title; empty if it is too long, so that one is made from the task."""
    title = _one_line(finding.title.replace("\0", ""))
    return title if len(title) <= LONGEST_TITLE else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _type_name(text: str) -> str:
    return _one_line(text).strip(" .!?“”\"'").casefold()
