"""Promises as the figures count them."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from conversations.analytics.period import Period
from conversations.models import IS_TEST, Conversation
from projects.models import Project
from todos.models import Todo, TodoStatus
from tools.models import NOT_SENT, Promise, PromiseOwner, PromiseState

NOT_SENT_STATE, UNOWNED = "not_sent", "unowned"
# Filters by state, on the page and in its figures. A promise that was not sent is neither open nor broken.
STATES = (*(state.value for state in PromiseState), NOT_SENT_STATE, UNOWNED)


def in_tests(project: Project) -> Q:
    """True for rows of the project's test conversations."""
    tests = Conversation.objects.filter(IS_TEST, project=project)
    return Q(conversation_id__in=tests.values("pk"))


def promises_of(project: Project, *, tests: bool = False) -> QuerySet[Promise]:
    """Promises to customers, or with `tests` those of test conversations."""
    rows = Promise.objects.filter(project_id=project.pk)
    return rows.filter(in_tests(project)) if tests else rows.exclude(in_tests(project))


def made_in(rows: QuerySet[Promise], period: Period) -> QuerySet[Promise]:
    """The promises made in the period."""
    return made_between(rows, period.since, period.until)


def made_between(rows: QuerySet[Promise], since: datetime, until: datetime) -> QuerySet[Promise]:
    return rows.filter(created_at__gte=since, created_at__lt=until)


def in_state(rows: QuerySet[Promise], state: str) -> QuerySet[Promise]:
    """The promises in one of STATES."""
    if state == NOT_SENT_STATE:
        return rows.filter(NOT_SENT)
    return unowned(rows) if state == UNOWNED else rows.filter(state=state).exclude(NOT_SENT)


def unowned(rows: QuerySet[Promise]) -> QuerySet[Promise]:
    """Open promises that a person has to act on, and that nobody has taken on. Those not sent have a state of their own."""
    takers = Todo.objects.filter(Q(promise=OuterRef("pk")) | Q(effect=OuterRef("effect_id")))
    taken = takers.filter(status=TodoStatus.IN_PROGRESS).exclude(taker="")
    return rows.filter(~Exists(taken), state=PromiseState.OPEN, owner=PromiseOwner.STAFF).exclude(NOT_SENT)
