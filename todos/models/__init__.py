"""Models of todos: tasks, their approvals, and their runs."""

from todos.models.approval import Approval, ApproverNotice, StandingRule
from todos.models.step import TodoCall, TodoStep
from todos.models.todo import Todo, TodoEvent, TodoSource, TodoStatus
from todos.models.todo_type import SecondApprover, TodoType

__all__ = [
    "Approval",
    "ApproverNotice",
    "SecondApprover",
    "StandingRule",
    "Todo",
    "TodoCall",
    "TodoEvent",
    "TodoSource",
    "TodoStatus",
    "TodoStep",
    "TodoType",
]
