"""Invariants that hold once everything has settled."""

from __future__ import annotations

from conversations.models import Conversation, Directives, Event, Message, Turn, TurnStatus
from jobs.models import LIVE, Job, State
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.processes import until
from tools.models import Effect, EffectState

LANES = ("observer", "thoughts", "tool_caller")


# Polled fifty times a second: one round trip, bypassing the ORM.
SETTLED = """
select not exists (select from jobs_job where organization_id = %s and state = any(%s))
   and not exists (select from conversations_turn where organization_id = %s and status = any(%s))
"""


def settle(tenant: Tenant, *, seconds: float = 90) -> None:
    """Wait until no job is live and every message is answered."""
    of = tenant.organization.pk
    unanswered = [TurnStatus.QUEUED, TurnStatus.REPLYING]
    until(
        lambda: bypass_rls(SETTLED, of, list(LIVE), of, unanswered)[0][0], seconds=seconds, what="the end of all work"
    )


def check(tenant: Tenant) -> None:
    """Assert every invariant on all of the tenant's conversations."""
    with tenant.tx():
        for conversation in Conversation.objects.all():
            every_message_is_answered_once(conversation)
            numbers_have_no_gaps(conversation)
            three_lanes_follow_each_reply(conversation)
            directives_are_never_stale(conversation)
        assert not Job.objects.filter(state=State.FAILED).exists()
        assert not Effect.objects.filter(state__in=(EffectState.PLANNED, EffectState.SENDING)).exists()


def every_message_is_answered_once(conversation: Conversation) -> None:
    for turn in Turn.objects.filter(conversation=conversation):
        while turn.superseded_by is not None:
            turn = turn.superseded_by
        assert turn.status == TurnStatus.DONE, f"{turn} of {conversation}"
        assert Message.objects.filter(turn=turn, role="agent").count() == 1
    unanswered = Turn.objects.filter(conversation=conversation, status=TurnStatus.SUPERSEDED)
    assert not Message.objects.filter(turn__in=unanswered, role="agent").exists()


def numbers_have_no_gaps(conversation: Conversation) -> None:
    for model, last in (
        (Message, conversation.last_message),
        (Event, conversation.last_event),
        (Turn, conversation.last_turn),
    ):
        numbers = list(model.objects.filter(conversation=conversation).order_by("seq").values_list("seq", flat=True))
        assert numbers == list(range(1, last + 1)), model.__name__


def three_lanes_follow_each_reply(conversation: Conversation) -> None:
    done = Turn.objects.filter(conversation=conversation, status=TurnStatus.DONE).count()
    assert Job.objects.filter(subject_id=conversation.pk, lane__in=LANES).count() == 3 * done


def directives_are_never_stale(conversation: Conversation) -> None:
    newest = Directives.objects.filter(conversation=conversation).order_by("-turn__seq").first()
    if newest is not None:
        assert conversation.directives_turn == newest.turn.seq
        assert conversation.directives_id == newest.pk
    written = (
        Job.objects.filter(subject_id=conversation.pk, lane="thoughts", state=State.DONE).order_by("-ordinal").first()
    )
    assert written is None or conversation.directives_turn >= written.ordinal
