"""Times of the next attempts of effects, which a reply, a todo, the calendar or a messenger makes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from conversations.channels.outgoing import LANE as CHANNEL
from todos.approvals.job_keys import next_attempts_of as next_attempts_of_runs
from todos.models import TodoCall
from tools.engine.ledger import OPEN
from tools.engine.next_attempts import next_attempts
from tools.models import Effect
from tools.services.calendar.event_sync import LANE as CALENDAR


def next_attempts_of(effects: Iterable[Effect]) -> dict[UUID, datetime]:
    """The time of each effect's next attempt, by id. Without effects that were tried and aren't over, no query is made."""
    retried = [effect for effect in effects if effect.attempts and effect.state in OPEN]
    found = next_attempts(retried, lanes=[CALENDAR, CHANNEL])
    if rest := [effect for effect in retried if effect.pk not in found]:
        found |= _of_todos(rest)
    return found


def _of_todos(effects: Sequence[Effect]) -> dict[UUID, datetime]:
    by_id = {effect.pk: effect for effect in effects}
    calls = TodoCall.objects.filter(effect__in=effects).values_list("step__approval_id", "effect_id")
    return next_attempts_of_runs((approval_id, by_id[effect_id]) for approval_id, effect_id in calls)
