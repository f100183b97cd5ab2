"""Registration of the todos' lanes, listeners and seeds. Called once all models are loaded."""

from __future__ import annotations

from jobs.lanes import register_lanes
from jobs.sweep import sweeping
from projects.models.seeds import PLANTS
from todos.approvals.digest import APPROVERS, on_todo_changed
from todos.executor.run import todo_lane
from todos.expiry import expire_overdue_todos
from todos.hooks import todo_changed
from todos.sources.seeds import plant_todo_types


def register() -> None:
    """Register the lanes, connect the signals, and add the todo types of new projects."""
    PLANTS["todo_types"] = plant_todo_types
    sweeping.connect(expire_overdue_todos)
    register_lanes(todo_lane(), APPROVERS.as_lane())
    todo_changed.connect(on_todo_changed)
