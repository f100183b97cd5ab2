"""Personal data in the tables of this app (`tenancy.personal_data`)."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from tenancy.personal_data import Fate, Subject, TableContents
from todos.models import Approval, ApproverNotice, StandingRule, Todo, TodoCall, TodoEvent, TodoStep, TodoType

TABLES = (
    TableContents(
        Todo,
        gettext_noop("Todos: work for the agent or for your team"),
        fate=Fate.DELETED,
        customer=("title", "description", "reason", "source_key", "quote", "arguments", "recipients", "repeats"),
        staff=("taker",),
        other=("status", "source", "tool"),
        links={"id": Subject.TODO},
    ),
    TableContents(
        Approval,
        gettext_noop("Approvals of todos, with the approved content"),
        fate=Fate.DELETED,
        customer=("content", "repeats"),
        staff=("approver", "second_approver"),
        other=("content_hash",),
        links={"todo_id": Subject.TODO},
    ),
    TableContents(
        TodoStep,
        gettext_noop("Steps of the agent at a todo"),
        fate=Fate.DELETED,
        customer=("content",),
        other=("model",),
        links={"todo_id": Subject.TODO},
    ),
    TableContents(
        TodoCall,
        gettext_noop("Tool calls of a todo’s steps"),
        fate=Fate.DELETED,
        customer=("arguments_text", "arguments", "result"),
        other=("call_id", "name"),
        links={"step__todo_id": Subject.TODO},
    ),
    TableContents(
        TodoEvent,
        gettext_noop("The history of todos"),
        fate=Fate.DELETED,
        customer=("detail",),
        staff=("actor",),
        other=("what", "from_status", "to_status"),
        links={"todo_id": Subject.TODO},
    ),
    TableContents(
        StandingRule,
        gettext_noop("Rules that approve todos automatically"),
        fate=Fate.SEARCHED,
        customer=("allowed",),
        other=("tool",),
    ),
    TableContents(
        TodoType,
        gettext_noop("Types of todos"),
        staff=("recipients",),
        other=("name", "description", "tools", "model", "approver_role", "second_approver", "limit_argument"),
    ),
    TableContents(ApproverNotice, gettext_noop("When approvers were e-mailed")),
)
