"""Workers killed with SIGKILL during extraction, drafting or notices, with another worker taking over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.db.models.functions import Now

from conversations.promises.make_good import draft_make_goods
from jobs.models import LIVE, Job
from tests.console.people.conftest import Mailbox, mailbox
from tests.processes import ForkServer, until
from tests.todos.sources.conftest import LUCIA, Desk, end, finds, jobs, todos
from tests.todos.sources.test_extraction import MENU, talked
from tests.todos.sources.test_make_good import broke, drafts
from tests.todos.sources.test_notices import later
from todos.models import Todo, TodoSource
from todos.services import make_todo

__all__ = ["mailbox"]
NOTICE = "todo_notice"
# True if the model's response was stored before the worker died. An unstored response is requested again.
ASKED = {"lane.llm_done_pre_commit": 2, "lane.committed": 1}


def kill(processes: ForkServer, label: str, **more: Any) -> None:
    processes.start("worker", queues="work", crash_at=f"{label}:1", **more).wait()


def go_on(processes: ForkServer, desk: Desk, lane: str, **more: Any) -> None:
    """Let another worker run the lane's due jobs."""
    survivor = processes.start("worker", queues="work", **more)

    def is_over() -> bool:
        with desk.tenant.tx():
            return not Job.objects.filter(lane=lane, state__in=LIVE, run_after__lte=Now()).exists()

    until(is_over, what=f"the end of the lane {lane}")
    survivor.kill()


@pytest.mark.short_leases
@pytest.mark.parametrize(("label", "asked"), ASKED.items())
def test_a_killed_extraction_creates_each_todo_once(label: str, asked: int, desk: Desk, processes: ForkServer) -> None:
    talked(desk)
    for _ in range(asked):
        finds(desk, {"quote": MENU, "description": "E-mail the banquet menu."})
    end(desk)
    kill(processes, label)
    go_on(processes, desk, "extraction")
    assert [todo.quote for todo in todos(desk)] == [MENU]
    assert (jobs(desk, "extraction"), len(desk.model.requests("extract"))) == (["done"], asked)


@pytest.mark.short_leases
@pytest.mark.parametrize(("label", "asked"), ASKED.items())
def test_a_killed_draft_creates_one_make_good_todo(label: str, asked: int, desk: Desk, processes: ForkServer) -> None:
    broke(desk)
    for _ in range(asked):
        drafts(desk)
    draft_make_goods()
    kill(processes, label)
    go_on(processes, desk, "make_good")
    assert [todo.source for todo in todos(desk)] == [TodoSource.MAKE_GOOD]
    assert (jobs(desk, "make_good"), len(desk.model.requests("make_good"))) == (["done"], asked)


@pytest.mark.short_leases
def test_a_killed_notice_is_sent_once_and_not_within_15_minutes(
    desk: Desk, processes: ForkServer, mailbox: Mailbox, settings: Any
) -> None:
    """A recorded notice counts as sent, and an unsent one is still due."""
    with desk.tenant.tx():
        make_todo(desk.tenant.project, description="Pay Ada back", source=TodoSource.PERSON, actor=LUCIA)
        # So long ago that it alone is no reason to write again.
        Todo.objects.update(status_at=F("status_at") - timedelta(minutes=1))
    kill(processes, "todo_notice.noted_pre_send", mail_port=settings.EMAIL_PORT)
    go_on(processes, desk, NOTICE, mail_port=settings.EMAIL_PORT)
    assert mailbox.messages == []
    later(desk, minutes=15)
    go_on(processes, desk, NOTICE, mail_port=settings.EMAIL_PORT)
    assert len(mailbox.messages) == 1
    later(desk, minutes=15)
    desk.run(NOTICE)
    assert len(mailbox.messages) == 1
