"""Effects of replies that were never sent: whoever was at them died, or the reply was superseded before they began."""

from __future__ import annotations

from uuid import UUID

from conversations.live.event_log import open_log
from conversations.models import TurnCall
from conversations.tool_runs.calls.ending import end_call, end_with_effect
from conversations.tool_runs.effects.outcome_events import tell_cancelled
from jobs.sweep import sweep_tenants
from tools.engine import ledger
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import WORKER_DIED
from tools.engine.function_calling.results import result_of
from tools.models import EffectState

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
    sweep_tenants(_LEFT, _end, failed="A call that was left behind could not be ended")


def _end(conversation_id: UUID, call_id: UUID) -> None:
    with open_log(conversation_id) as log:
        call = TurnCall.objects.select_related("step", "effect").get(pk=call_id)
        effect = call.effect
        if effect is None or effect.state not in ledger.OPEN:
            return
        if effect.state == EffectState.SENDING:
            end_with_effect(log, call, Outcome.unknown(WORKER_DIED))
        elif ledger.cancel(effect, reason=NOT_BEGUN):
            tell_cancelled(log, effect)
            end_call(log, call, result_of(effect), is_error=True)
