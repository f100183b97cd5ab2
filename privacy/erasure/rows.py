"""Removes the rows that belong together, such as those of one conversation, in the running transaction.

Rows that prove something, such as an effect that happened or what a model call cost, stay without the customer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.db import connection, transaction
from django.db.models import Model, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from conversations.models import Attachment, Message
from jobs import wakeups
from jobs.models import Job, ModelCall, State
from notices.models import Notice
from privacy.registry import BY_MODEL
from privacy.subjects import SubjectIds
from tenancy.scope import current_organization_id
from todos.models import Todo
from tools.models import (
    AfterAction,
    Booking,
    BookingState,
    Effect,
    EffectState,
    KeptCase,
    Promise,
    Ticket,
    TicketState,
)
from tools.services.bookings.services import cancel
from tools.services.calendar.event_sync import plan_sync

# A worker's attempt at an effect is over by then, even if its state is still `sending`.
LONGEST_ATTEMPT = timedelta(minutes=5)


@dataclass(frozen=True)
class Removed:
    """The number of removed records by name, and the bookings whose events in a calendar are rewritten."""

    counts: Mapping[str, int] = field(default_factory=dict)
    bookings: frozenset[UUID] = frozenset()


class EffectUnderWay(RuntimeError):
    """An effect is being sent at this moment. Its outcome is stored first."""


def remove_rows(ids: SubjectIds) -> Removed:
    """Remove everything but the conversations and customers themselves, whose deletion takes the rest.

    Raises EffectUnderWay, after effects that haven't begun were cancelled: commit that.
    """
    _lock(ids)
    _cancel_planned(ids)
    if _is_sending(ids):
        raise EffectUnderWay(EffectUnderWay.__doc__)
    counts = _count(ids)
    _delete_jobs(ids)
    empty_calls(ids.model_calls)
    empty_effects(Effect.objects.filter(pk__in=ids.effects))
    forget_notices(ids.named)
    KeptCase.objects.filter(turn_id__in=ids.others).delete()
    _bury_tickets(ids)
    delete_rows(Todo, ids.todos)
    return Removed(counts, _empty_bookings(ids))


def empty_calls(ids: Collection[UUID]) -> None:
    """Keep tokens, cost and times of model calls, and nothing that leads to what they were made for."""
    ModelCall.objects.filter(pk__in=ids).update(**BY_MODEL[ModelCall].emptied)


def empty_effects(effects: QuerySet[Effect], *, keeps_place: bool = False) -> int:
    """Keep what happened when, by which tool and with which result, and return the number of effects.

    One that the tool has accepted will never be answered. `keeps_place` leaves an effect in its conversation.
    """
    ids = list(effects.values_list("pk", flat=True))
    effects = Effect.objects.filter(pk__in=ids)
    effects.filter(state=EffectState.SENDING).update(state=EffectState.UNKNOWN, finished_at=Now())
    AfterAction.objects.filter(effect_id__in=ids).delete()
    emptied = BY_MODEL[Effect].emptied
    place = {"conversation_id", "turn_id"} if keeps_place else set()
    return effects.update(**{name: value for name, value in emptied.items() if name not in place}, erased_at=Now())


def forget_notices(ids: Collection[UUID]) -> None:
    """Delete notices that lead to one of these rows, and the admin's entries about them."""
    Notice.objects.filter(object_id__in=ids).delete()
    LogEntry.objects.filter(object_id__in=[str(pk) for pk in ids]).delete()


def delete_rows(model: type[Model], ids: Collection[UUID]) -> int:
    """Delete rows of the current tenant by their ids. The database deletes what belongs to them, facts as well."""
    sql = f"delete from {model._meta.db_table} where organization_id = %s and id = any(%s)"  # noqa: S608 - a table of our own
    with connection.cursor() as cursor:
        cursor.execute(sql, [current_organization_id(), list(ids)])
        return int(cursor.rowcount)


def _lock(ids: SubjectIds) -> None:
    """Lock todos and effects, in the order of every writer: after the conversation."""
    for model, found in ((Todo, ids.todos), (Effect, ids.effects)):
        rows = model.objects.filter(pk__in=found).order_by("pk").select_for_update(no_key=True)
        list(rows.values_list("pk", flat=True))


def _cancel_planned(ids: SubjectIds) -> None:
    planned = Effect.objects.filter(pk__in=ids.effects, state__in=(EffectState.PLANNED, EffectState.HELD))
    planned.update(state=EffectState.CANCELLED, finished_at=Now())


def _is_sending(ids: SubjectIds) -> bool:
    """True while a worker may be at one of the effects. One that the tool has accepted is answered by a callback."""
    begun = Now() - LONGEST_ATTEMPT
    rows = Effect.objects.filter(pk__in=ids.effects, state=EffectState.SENDING, accepted_at=None)
    return rows.filter(started_at__gt=begun).exists()


def _count(ids: SubjectIds) -> dict[str, int]:
    inside = {"conversation_id__in": ids.conversations}
    return {
        "messages": Message.objects.filter(**inside).count(),
        "attachments": Attachment.objects.filter(**inside).count(),
        "promises": Promise.objects.filter(**inside).count(),
        "bookings": len(ids.bookings),
        "todos": len(ids.todos),
        "tickets": len(ids.tickets),
        "effects": len(ids.effects),
        "model_calls": len(ids.model_calls),
    }


def _delete_jobs(ids: SubjectIds) -> None:
    """Delete finished and waiting jobs. A worker that runs one loses its lease, and its model call is cancelled."""
    found = dict(Job.objects.filter(subject_id__in=ids.jobs).order_by("pk").values_list("pk", "state"))
    # Deleting a job would delete its model calls.
    ModelCall.objects.filter(job_id__in=found).update(job=None)
    delete_rows(Job, found.keys())
    if running := [str(pk) for pk, state in found.items() if state == State.RUNNING]:
        transaction.on_commit(partial(wakeups.cancel, running))


def _bury_tickets(ids: SubjectIds) -> None:
    """Replace tickets by empty, closed ones with the same numbers, which stay gapless.

    Deleting the row takes its answers and its history, which can't be deleted otherwise.
    """
    rows = list(Ticket.objects.filter(pk__in=ids.tickets).order_by("pk").select_for_update())
    delete_rows(Ticket, ids.tickets)
    for row in rows:
        for name, value in BY_MODEL[Ticket].emptied.items():
            setattr(row, name, value)
        row.state, row.assignee_id, row.closed_at = TicketState.CLOSED, None, row.closed_at or timezone.now()
    created = {row.pk: row.created_at for row in rows}
    for row in Ticket.objects.bulk_create(rows):
        Ticket.objects.filter(pk=row.pk).update(created_at=created[row.pk])


def _empty_bookings(ids: SubjectIds) -> frozenset[UUID]:
    """Cancel upcoming bookings, keep the others as a number of people at a time, and rewrite their events."""
    bookings = list(Booking.objects.filter(pk__in=ids.bookings).order_by("pk"))
    now = timezone.now()
    for booking in bookings:
        if booking.state == BookingState.CONFIRMED and booking.starts_at > now:
            cancel(booking, by="staff", now=now)
        elif booking.calendar_url:
            plan_sync(booking)
    Booking.objects.filter(pk__in=ids.bookings).update(**BY_MODEL[Booking].emptied)
    synced = Booking.objects.filter(pk__in=ids.bookings, calendar_effect_id__isnull=False)
    return frozenset(synced.values_list("pk", flat=True))
