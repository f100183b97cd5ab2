"""Effects of replies that were never sent: whoever was at them died, or the reply was superseded before they began."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import connections

from conversations.live.event_log import ConversationLog, open_log
from conversations.models import TurnCall
from conversations.tool_runs.calls.ending import end_call, end_with_effect
from conversations.tool_runs.effects.outcome_events import tell_cancelled
from tenancy.scope import tenant_tx
from tools.engine import ledger
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import DIED
from tools.engine.function_calling.results import result_of
from tools.models import EffectState

logger = logging.getLogger(__name__)

NOT_BEGUN = "The reply that it was for was not written to its end."

# A reply that is still to be written carries on with its own. What waits for a person's yes is its todo's.
_LEFT = """
select e.organization_id, e.conversation_id, c.id
from tools_effect e
join conversations_turncall c on c.organization_id = e.organization_id and c.effect_id = e.id
where e.origin = 'turn' and e.state in ('planned', 'sending')
  and coalesce(e.started_at, e.created_at) < clock_timestamp() - interval '2 minutes'
  and not exists (select 1 from todos_todo t where t.organization_id = e.organization_id and t.effect_id = e.id)
  and not exists (select 1 from jobs_job j where j.organization_id = e.organization_id and j.lane = 'reply'
                  and j.subject_id = e.conversation_id and j.state in ('queued', 'running'))
order by e.created_at limit 100
"""


def end_left_behind() -> None:
    """End them, in all tenants: the sweep's hook. What may have happened is for staff to find out (E4)."""
    for organization_id, conversation_id, call_id in _left():
        try:
            with tenant_tx(organization_id), open_log(conversation_id) as log:
                _end(log, call_id)
        except Exception:  # the worker's edge: one call's trouble keeps no other from ending
            logger.exception("The call %s was left behind, and could not be ended.", call_id)


def _left() -> list[tuple[UUID, UUID, UUID]]:
    with connections["ops"].cursor() as cursor:
        cursor.execute(_LEFT)
        return list(cursor.fetchall())


def _end(log: ConversationLog, call_id: UUID) -> None:
    call = TurnCall.objects.select_related("step", "effect").get(pk=call_id)
    effect = call.effect
    if effect is None or effect.state not in ledger.OPEN:
        return
    if effect.state == EffectState.SENDING:
        end_with_effect(log, call, Outcome.unknown(DIED))
    elif ledger.cancel(effect, reason=NOT_BEGUN):
        tell_cancelled(log, effect)
        end_call(log, call, result_of(effect), is_error=True)
