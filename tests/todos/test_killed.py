"""A web process killed during an approval: the approval and its job are committed together or not at all."""

from __future__ import annotations

import http.client
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

from tests.api.live import Caller
from tests.processes import ForkServer
from tests.todos.conftest import Desk
from todos.models import Approval

LABEL = "todo.approve_pre_commit"


def approve_and_die(desk: Desk, processes: ForkServer, *, n: int) -> None:
    """The n-th approval kills the process before its commit; another process repeats it."""
    todos = [desk.refund() for _ in range(n)]
    web, url = processes.web(crash_at=f"{LABEL}:{n}")
    for todo in todos:
        with suppress(http.client.HTTPException, ConnectionError):
            caller(url, desk).post(f"/todos/{todo.pk}/approve", {})
    web.wait()
    assert [desk.now(todo).status for todo in todos] == ["approved"] * (n - 1) + ["pending_review"]
    assert (len(desk.jobs()), desk.do(Approval.objects.count)) == (n - 1, n - 1)
    assert desk.history(todos[-1]) == ["made"]
    again = caller(processes.web()[1], desk).post(f"/todos/{todos[-1].pk}/approve", {})
    assert (again.status, len(desk.jobs())) == (200, n)


def caller(url: str, desk: Desk) -> Caller:
    place = urlsplit(url)
    return Caller((str(place.hostname), int(place.port or 0)), desk.tenant.key)


@pytest.mark.parametrize("n", [1, 2])
def test_an_approval_killed_before_its_commit_leaves_no_trace(desk: Desk, processes: ForkServer, n: int) -> None:
    approve_and_die(desk, processes, n=n)


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 21))
def test_twenty_killed_approvals_leave_no_trace(desk: Desk, processes: ForkServer, n: int) -> None:
    approve_and_die(desk, processes, n=1 + n % 3)
