"""The rows that belong to a customer, by their ids."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from conversations.models import Conversation, Turn
from jobs.models import Job, ModelCall
from tenancy.personal_data import Subject, TableContents
from todos.models import Todo
from tools.models import Booking, Effect, Promise, Ticket

Ids = frozenset[UUID]
NONE: Ids = frozenset()


@dataclass(frozen=True)
class SubjectIds:
    """The ids of rows that belong together, such as those of one conversation.

    `others` are ids of turns and promises, for which jobs and model calls were made.
    """

    personas: Ids = NONE
    conversations: Ids = NONE
    todos: Ids = NONE
    tickets: Ids = NONE
    bookings: Ids = NONE
    effects: Ids = NONE
    model_calls: Ids = NONE
    others: Ids = NONE

    @property
    def jobs(self) -> Ids:
        """The subjects of jobs."""
        return self.conversations | self.todos | self.effects | self.bookings | self.others

    @property
    def named(self) -> Ids:
        """Ids of the customer's records, by which notices and stored responses refer to them."""
        return (
            self.personas | self.conversations | self.todos | self.tickets | self.bookings | self.effects | self.others
        )

    def of(self, subject: Subject) -> Ids:
        """The ids of one kind."""
        found: Ids = getattr(self, subject.value)
        return found


def ids_of_conversations(conversations: Collection[UUID]) -> SubjectIds:
    """The ids of what belongs to these conversations. Their model calls aren't counted in."""
    inside = Q(conversation_id__in=conversations)
    turns = _ids(Turn.objects.filter(inside))
    return _complete(
        conversations=frozenset(conversations),
        todos=_ids(Todo.objects.filter(inside)),
        tickets=_ids(Ticket.objects.filter(inside)),
        bookings=_ids(Booking.objects.filter(inside)),
        effects=_ids(Effect.objects.filter(inside)),
        others=turns | _ids(Promise.objects.filter(inside)),
        turns=turns,
    )


def ids_of_personas(personas: Collection[UUID], *, most: int | None) -> SubjectIds:
    """The ids of what belongs to these customers, in any conversation. At most `most` of each kind."""
    theirs = Q(persona_id__in=personas)
    return _complete(
        personas=frozenset(personas),
        todos=_ids(Todo.objects.filter(theirs), most=most),
        tickets=_ids(Ticket.objects.filter(theirs), most=most),
        bookings=_ids(Booking.objects.filter(theirs), most=most),
    )


def ids_outside_conversations(personas: Collection[UUID]) -> SubjectIds:
    """Ids of the customers' records that belong to no conversation."""
    theirs = Q(persona_id__in=personas, conversation_id=None)
    return _complete(
        personas=frozenset(personas),
        todos=_ids(Todo.objects.filter(theirs)),
        tickets=_ids(Ticket.objects.filter(theirs)),
        bookings=_ids(Booking.objects.filter(theirs)),
    )


def ids_of_rows(*, effects: QuerySet[Effect], bookings: QuerySet[Booking]) -> SubjectIds:
    """Ids of these effects and bookings, and of the records that belong to them."""
    return _complete(effects=_ids(effects), bookings=_ids(bookings))


def conversations_of(personas: Collection[UUID]) -> QuerySet[Conversation]:
    """All conversations of these customers, oldest first."""
    return Conversation.objects.filter(persona_id__in=personas).order_by("pk")


def rows_of(contents: TableContents, ids: SubjectIds) -> QuerySet[Any]:
    """The rows of a table that belong to these subjects."""
    links = [Q(**{f"{lookup}__in": found}) for lookup, subject in contents.links.items() if (found := ids.of(subject))]
    rows: QuerySet[Any] = contents.model._default_manager.all()
    if not links:
        return rows.none()
    condition = links[0]
    for link in links[1:]:
        condition |= link
    return rows.filter(condition)


def _complete(*, turns: Ids = NONE, effects: Ids = NONE, tickets: Ids = NONE, **found: Ids) -> SubjectIds:
    """Add the effects of todos, bookings and tickets, and the model calls of everything."""
    todos, bookings = found.get("todos", NONE), found.get("bookings", NONE)
    effects |= _effects_of(todos, bookings, tickets)
    ids = SubjectIds(effects=effects, tickets=tickets, **found)
    return SubjectIds(**{**vars(ids), "model_calls": _calls_of(ids, turns)})


def _effects_of(todos: Ids, bookings: Ids, tickets: Ids) -> Ids:
    found = set[UUID | None]()
    if todos:
        found.update(Effect.objects.filter(todo_calls__step__todo_id__in=todos).values_list("pk", flat=True))
        found.update(Todo.objects.filter(pk__in=todos).values_list("effect_id", flat=True))
    columns = ("effect_id", "cancel_effect_id", "calendar_effect_id")
    for row in Booking.objects.filter(pk__in=bookings).values_list(*columns):
        found.update(row)
    if tickets:
        found.update(Effect.objects.filter(pk__in=_answer_effects(tickets)).values_list("pk", flat=True))
    return frozenset(pk for pk in found if pk is not None)


def _answer_effects(tickets: Ids) -> QuerySet[Any]:
    rows = Ticket.objects.filter(pk__in=tickets, answers__effect_id__isnull=False)
    return rows.values("answers__effect_id")


def _calls_of(ids: SubjectIds, turns: Ids) -> Ids:
    found = set(_ids(ModelCall.objects.filter(turn_id__in=turns)))
    subjects = ids.jobs
    found |= _ids(ModelCall.objects.filter(turn_id__isnull=True, subject_id__in=subjects))
    # Deleting a job deletes its calls, and what they cost is to stay.
    found |= _ids(ModelCall.objects.filter(job__in=Job.objects.filter(subject_id__in=subjects)))
    return frozenset(found)


def _ids(rows: QuerySet[Any], *, most: int | None = None) -> Ids:
    return frozenset(rows.values_list("pk", flat=True)[:most])
