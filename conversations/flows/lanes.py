"""Job lanes for conversations."""

from __future__ import annotations

from datetime import timedelta

from conversations.calls.arrival import LANE as CALL
from conversations.calls.keeper import run_call
from conversations.calls.store import fail_call
from conversations.channels.fetching import files_lane
from conversations.channels.lane import channel_lane
from conversations.channels.link_lane import link_lane
from conversations.channels.mail.polling import mailbox_lane
from conversations.files.upkeep import tend_objects
from conversations.flows.effects import fail_effect, reopen_effect, run_effect
from conversations.flows.extraction import run_extraction
from conversations.flows.make_good import fail_make_good, run_make_good
from conversations.flows.observer import run_observer
from conversations.flows.reply import apologise, reopen, run_reply
from conversations.flows.summary import run_summary
from conversations.flows.thoughts import run_thoughts
from conversations.flows.todo_events import run_todo_events
from conversations.flows.tool_caller import fail_analysis, reopen_analysis, run_tool_caller
from conversations.followups.follow_ups import fire_follow_ups
from conversations.followups.waits import end_overdue_waits
from conversations.handover.attachments import delete_unsent
from conversations.inbox.closing import return_snoozed
from conversations.live.event_log import lock_conversation
from conversations.promises.make_good import LANE as MAKE_GOOD
from conversations.promises.make_good import draft_make_goods
from conversations.tool_runs.calls.orphans import end_orphans
from conversations.tool_runs.effects.outcome_events import lock_effect
from conversations.tool_runs.effects.receipts import end_overdue_receipts
from conversations.turns.after_reply import report_failure
from conversations.turns.conversation_end import close_silent_conversations
from jobs.lanes import Lane, Mode, Queue, register_lanes
from jobs.sweep import sweeping
from tools.engine.promises import break_overdue_promises

LANES = (
    Lane(
        name="reply",
        queue=Queue.REPLIES,
        mode=Mode.INTERRUPT,
        handler=run_reply,
        lease=timedelta(seconds=10),
        slots=256,
        lock=lock_conversation,
        on_failed=apologise,
        on_run_again=reopen,
    ),
    Lane(
        name="observer",
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_observer,
        lock=lock_conversation,
        on_failed=report_failure,
    ),
    Lane(
        name="thoughts",
        queue=Queue.WORK,
        mode=Mode.INTERRUPT,
        handler=run_thoughts,
        lock=lock_conversation,
        on_failed=report_failure,
    ),
    Lane(
        name="tool_caller",
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_tool_caller,
        lock=lock_conversation,
        on_failed=fail_analysis,
        on_run_again=reopen_analysis,
    ),
    Lane(
        name=CALL,
        # A call can't wait behind slow work.
        queue=Queue.REPLIES,
        mode=Mode.QUEUE,
        handler=run_call,
        # A dead worker's calls are taken over within ten seconds.
        lease=timedelta(seconds=5),
        deadline=timedelta(hours=2),
        max_attempts=100,
        is_handed_on=True,
        lock=lock_conversation,
        on_failed=fail_call,
    ),
    Lane(name="extraction", queue=Queue.WORK, mode=Mode.QUEUE, handler=run_extraction),
    Lane(
        name=MAKE_GOOD,
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_make_good,
        on_failed=fail_make_good,
    ),
    Lane(name="todo_news", queue=Queue.WORK, mode=Mode.QUEUE, handler=run_todo_events),
    Lane(name="summary", queue=Queue.WORK, mode=Mode.QUEUE, handler=run_summary),
    Lane(
        name="effect",
        queue=Queue.WORK,
        mode=Mode.QUEUE,
        handler=run_effect,
        lock=lock_effect,
        on_failed=fail_effect,
        on_run_again=reopen_effect,
    ),
    channel_lane(),
    files_lane(),
    link_lane(),
    mailbox_lane(),
)

# Hooks of the periodic sweep, in their order.
SWEEPS = (
    fire_follow_ups,
    end_overdue_waits,
    close_silent_conversations,
    return_snoozed,
    delete_unsent,
    tend_objects,
    # Before the promises, whose deadline it moves.
    end_overdue_receipts,
    break_overdue_promises,
    draft_make_goods,
    end_orphans,
)


def register_conversation_lanes() -> None:
    """Register the lanes with the workers, and the periodic hooks with the sweep."""
    for hook in SWEEPS:
        sweeping.connect(hook)
    register_lanes(*LANES)
