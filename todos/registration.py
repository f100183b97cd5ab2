"""Registration of the todos' lanes, listeners and seeds. Called once all models are loaded."""

from __future__ import annotations

from datetime import timedelta

from jobs.lanes import Lane, Mode, Queue
from jobs.lanes import register as register_lane
from jobs.sweep import sweeping
from projects.models.seeds import PLANTS
from todos.approvals.approve import LANE
from todos.approvals.digest import APPROVERS, on_todo_changed
from todos.executor.run import fail_todo, lock_subject, refuse_run, run_todo
from todos.expiry import expire_overdue_todos
from todos.hooks import todo_changed
from todos.sources.seeds import plant_todo_types


def register() -> None:
    """Register the lanes, connect the signals, and add the todo types of new projects."""
    PLANTS["todo_types"] = plant_todo_types
    sweeping.connect(expire_overdue_todos)
    register_lane(
        Lane(
            name=LANE,
            queue=Queue.WORK,
            mode=Mode.QUEUE,
            handler=run_todo,
            # Ten model steps with their tool calls, and a minute's wait for an unavailable model.
            deadline=timedelta(minutes=15),
            max_attempts=8,
            lock=lock_subject,
            on_failed=fail_todo,
            on_run_again=refuse_run,
            task="execute_todo",
        )
    )
    APPROVERS.register()
    todo_changed.connect(on_todo_changed)
