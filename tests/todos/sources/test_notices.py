"""E-mail notices to approvers, at most one per 15 minutes each, over real SMTP."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F

from jobs.models import Job, State
from projects.agents.services import create_project
from projects.models import Role, User
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import talk
from tests.console.people.conftest import Mailbox, mailbox
from tests.conversations.threads import in_thread
from tests.todos.sources.conftest import LUCIA, Desk, jobs
from todos.models import ApproverNotice, Todo, TodoSource, TodoType
from todos.services import make_todo, reject_todo

__all__ = ["mailbox"]
LANE = "todo_notice"


def ask(desk: Desk, description: str = "Pay Ada back", **details: Any) -> Todo:
    """Add another pending todo."""
    with desk.tenant.tx():
        return make_todo(desk.tenant.project, description=description, source=TodoSource.PERSON, actor=LUCIA, **details)


def later(desk: Desk, *, minutes: float) -> None:
    """Let this much time pass for notices and jobs."""
    with desk.tenant.tx():
        ApproverNotice.objects.update(sent_at=F("sent_at") - timedelta(minutes=minutes))
        Job.objects.filter(lane=LANE, state=State.QUEUED).update(run_after=F("run_after") - timedelta(minutes=minutes))
        Todo.objects.update(status_at=F("status_at") - timedelta(minutes=minutes))


def written_to(mailbox: Mailbox) -> list[str]:
    return sorted(str(message["To"]) for message in mailbox.messages)


def test_everybody_who_may_approve_is_notified(desk: Desk, operator: Any, viewer: Any, mailbox: Mailbox) -> None:
    ask(desk)
    desk.run(LANE)
    assert written_to(mailbox) == sorted([desk.tenant.owner.email, operator.email])
    text = mailbox.last_text()
    assert "Pay Ada back" in text
    assert f"/p/{desk.tenant.project.slug}/todos" in text


def test_the_email_names_the_customer_of_each_todo(desk: Desk, mailbox: Mailbox) -> None:
    ask(desk, persona_id=talk(desk.tenant, "Hello", name="Marta Riva").persona_id)
    ask(desk)
    desk.run(LANE)
    lines = [line.strip("- ") for line in mailbox.last_text().splitlines()]
    assert "Marta Riva: Pay Ada back" in lines
    assert "Pay Ada back" in lines


def test_only_active_members_are_notified_of_their_projects_todos(desk: Desk, operator: Any, mailbox: Mailbox) -> None:
    User.objects.filter(pk=operator.pk).update(is_active=False)
    with desk.tenant.tx():
        other = create_project("Other", config=desk.tenant.project.agent_version.config)
        make_todo(other, description="Pay Bob back", source=TodoSource.PERSON, actor=LUCIA)
        Job.objects.filter(lane=LANE).delete()
    ask(desk)
    desk.run(LANE)
    assert written_to(mailbox) == [desk.tenant.owner.email]
    assert "Pay Bob back" not in mailbox.last_text()


def test_the_types_role_decides_who_is_notified(desk: Desk, operator: Any, mailbox: Mailbox) -> None:
    with desk.tenant.tx():
        kind = TodoType.objects.create(
            project=desk.tenant.project, name="Big", description="x", approver_role=Role.OWNER
        )
    ask(desk, type=kind)
    desk.run(LANE)
    assert written_to(mailbox) == [desk.tenant.owner.email]


def test_at_most_one_notice_per_15_minutes_and_none_is_lost(desk: Desk, mailbox: Mailbox) -> None:
    ask(desk)
    desk.run(LANE)
    later(desk, minutes=1)
    ask(desk, "Call Ada")
    ask(desk, "Write to Ada")
    desk.run(LANE)
    assert len(mailbox.messages) == 1
    later(desk, minutes=15)
    desk.run(LANE)
    assert len(mailbox.messages) == 2
    assert "3 todos need your approval" in mailbox.last_text()
    later(desk, minutes=60)
    desk.run(LANE)
    assert len(mailbox.messages) == 2


def test_todos_decided_in_the_meantime_are_left_out(desk: Desk, mailbox: Mailbox) -> None:
    todo = ask(desk)
    with desk.tenant.tx():
        reject_todo(todo.pk, actor=LUCIA)
    desk.run(LANE)
    assert mailbox.messages == []


def test_many_todos_queue_one_job(desk: Desk, mailbox: Mailbox) -> None:
    for _ in range(5):
        ask(desk)
    assert jobs(desk, LANE) == ["queued"]


def test_a_rejected_message_is_retried(desk: Desk, mailbox: Mailbox) -> None:
    mailbox.is_refusing = True
    ask(desk)
    desk.run(LANE)
    with desk.tenant.tx():
        assert not ApproverNotice.objects.exists()
        Job.objects.filter(lane=LANE).update(run_after=F("created_at"))
    mailbox.is_refusing = False
    desk.run(LANE)
    assert len(mailbox.messages) == 1


def test_without_a_mail_server_nothing_is_queued(desk: Desk) -> None:
    ask(desk)
    assert jobs(desk, LANE) == []


def test_a_long_or_odd_description_is_one_short_line(desk: Desk, mailbox: Mailbox) -> None:
    ask(desk, "Pay\n- Subject: x\r\n" + "very " * 100)
    desk.run(LANE)
    [line] = [line for line in mailbox.last_text().splitlines() if line.startswith("- ")]
    assert len(line) <= 162
    assert line.startswith("- Pay - Subject: x very")


def test_five_todos_are_listed_and_the_rest_counted(desk: Desk, mailbox: Mailbox) -> None:
    for number in range(7):
        ask(desk, f"Pay guest {number} back")
    desk.run(LANE)
    lines = [line for line in mailbox.last_text().splitlines() if line.startswith("- ")]
    assert (len(lines), lines[-1]) == (6, "- and 2 more")
    assert str(mailbox.messages[-1]["Subject"]).startswith("7 todos need your approval")


def test_members_of_another_tenant_are_not_notified(desk: Desk, stranger: Tenant, mailbox: Mailbox) -> None:
    member_of(stranger, Role.OPERATOR)
    ask(desk)
    desk.run(LANE)
    assert written_to(mailbox) == [desk.tenant.owner.email]


def test_a_todo_arriving_during_a_notice_is_not_lost(desk: Desk, mailbox: Mailbox) -> None:
    """Its job is not claimed before the todo is committed."""
    ask(desk)
    with ThreadPoolExecutor(1) as pool, desk.tenant.tx():
        make_todo(desk.tenant.project, description="Call Ada", source=TodoSource.PERSON, actor=LUCIA)
        in_thread(pool, lambda: desk.run(LANE)).result()
    later(desk, minutes=15)
    desk.run(LANE)
    assert "Call Ada" in mailbox.last_text()


def test_a_worker_whose_clock_is_an_hour_ahead_forgets_no_later_todo(
    desk: Desk, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(desk)
    with monkeypatch.context() as wrong:
        wrong.setattr("django.utils.timezone.now", lambda: datetime.now(UTC) + timedelta(hours=1))
        desk.run(LANE)
    later(desk, minutes=16)
    ask(desk, "Pay Bob back")
    desk.run(LANE)
    assert written_to(mailbox) == [desk.tenant.owner.email] * 2
