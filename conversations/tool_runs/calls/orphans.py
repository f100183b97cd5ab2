"""Cleans up effects orphaned by a dead worker or a superseded reply."""

from __future__ import annotations

from uuid import UUID

from conversations.live.event_log import open_log
from conversations.models import TurnCall
from conversations.tool_runs.calls.turn_call_run import TurnCallRun
from jobs.sweep import sweep_tenants
from tools.engine import ledger
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.outcome_policy import WORKER_DIED
from tools.models import EffectState

NOT_BEGUN = "The reply it belonged to was never finished."

# A reply still in the queue continues its own effects, and a todo owns those that await approval.
_ORPHANS = """
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


def end_orphans() -> None:
    """End orphaned effects in all tenants; a sweep hook. One that may have happened is left for staff to resolve."""
    sweep_tenants(_ORPHANS, _end, failed="An orphaned call could not be ended")


def _end(conversation_id: UUID, call_id: UUID) -> None:
    with open_log(conversation_id) as log:
        call = TurnCall.objects.select_related("step", "effect").get(pk=call_id)
        effect = call.effect
        if effect is None or effect.state not in ledger.OPEN:
            return
        run = TurnCallRun(log, call)
        if effect.state == EffectState.SENDING:
            run.settle(Outcome.unknown(WORKER_DIED))
        else:
            run.cancel(NOT_BEGUN)
