"""Nothing fails in silence: flows after a reply that fail permanently end where staff sees them."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from conversations.live.event_log import open_log
from conversations.prompts.observer import Quality
from conversations.turns.flags import clear_flag, flag_reasons, store_quality
from jobs.enqueue import JobRequest, enqueue
from jobs.models import Job, State
from jobs.services import run_again
from tests.console.pages.conftest import browser
from tests.conversations.promises.conftest import PROMISE, SMS, Desk, fired

HOW = "Run its tool caller again, under Failures or in the turn’s inspector."


def fails(desk: Desk, *, skill: str = "detect") -> Any:
    """A reply whose flow fails permanently."""
    desk.model.script(skill, times=0, fault="401")
    turn = desk.reply(PROMISE)
    desk.run("tool_caller")
    return turn


def runs_again(desk: Desk) -> None:
    with desk.tenant.tx():
        run_again(desk.tenant.project, Job.objects.get(lane="tool_caller", state=State.FAILED).pk)
    desk.model.reset()
    desk.reads(SMS)
    desk.run("tool_caller")


def reasons(desk: Desk) -> list[str]:
    with desk.tenant.tx():
        return flag_reasons(desk.talk.reload())


def events(desk: Desk) -> list[dict[str, Any]]:
    with desk.tenant.tx():
        rows = desk.talk.conversation.events.filter(idn="turn_changed").order_by("seq")
        return [row.payload for row in rows if "lane" in row.payload]


def scores_low(desk: Desk) -> None:
    with desk.tenant.tx(), open_log(desk.talk.conversation.pk) as log:
        store_quality(log, desk.talk.conversation.turns.first(), Quality(reason="Rude.", score=1))


def test_a_reply_that_was_not_analyzed_flags_the_conversation(desk: Desk) -> None:
    turn = fails(desk)
    flag = desk.talk.reload().flag
    assert flag.startswith(f"The reply of turn {turn.seq} was not checked for promises. {HOW} ")
    with desk.tenant.tx():
        assert flag.endswith(Job.objects.get(lane="tool_caller", state=State.FAILED).error)
    assert (events(desk)[-1]["lane"], events(desk)[-1]["state"]) == ("tool_caller", "failed")


def test_the_dashboard_and_the_inbox_list_the_reply_that_was_not_analyzed(desk: Desk) -> None:
    turn = fails(desk)
    page = browser(desk.tenant.owner)
    for name in ("dashboard", "inbox"):
        answer = page.get(reverse(name, kwargs={"project_slug": desk.tenant.project.slug}))
        assert f"The reply of turn {turn.seq} was not checked" in answer.content.decode()


def test_an_analysis_that_runs_again_withdraws_its_flag(desk: Desk) -> None:
    turn = fails(desk)
    runs_again(desk)
    assert fired(desk.talk.turn(turn)) == [SMS]
    assert desk.talk.reload().flag == ""
    assert [event["state"] for event in events(desk) if event["lane"] == "tool_caller"] == ["failed", "queued", "done"]


def test_an_analysis_that_runs_again_leaves_the_other_reasons(desk: Desk) -> None:
    fails(desk)
    scores_low(desk)
    assert len(reasons(desk)) == 2
    runs_again(desk)
    assert reasons(desk) == ["Quality 1 of 10: Rude."]


def test_an_older_reason_becomes_the_flag_again(desk: Desk) -> None:
    desk.reply("Hello.")
    scores_low(desk)
    turn = fails(desk)
    assert reasons(desk)[0].startswith(f"The reply of turn {turn.seq}")
    runs_again(desk)
    assert desk.talk.reload().flag == "Quality 1 of 10: Rude."


def test_a_flag_that_a_person_cleared_stays_cleared(desk: Desk) -> None:
    desk.reply("Hello.")
    scores_low(desk)
    fails(desk)
    with desk.tenant.tx():
        clear_flag(desk.talk.conversation.pk, by=desk.tenant.owner)
    runs_again(desk)
    assert (desk.talk.reload().flag, reasons(desk)) == ("", [])


def test_each_reply_that_was_not_analyzed_is_a_reason(desk: Desk) -> None:
    turns = [fails(desk), fails(desk)]
    assert [reason.partition(" was")[0] for reason in reasons(desk)] == [
        f"The reply of turn {turn.seq}" for turn in reversed(turns)
    ]


def queue(desk: Desk, lane: str, *, seq: int, key: str) -> None:
    subject = {"project_id": desk.tenant.project.pk, "subject_id": desk.talk.conversation.pk}
    with desk.tenant.tx():
        enqueue([JobRequest(lane=lane, ordinal=seq, key=key, **subject)])


@pytest.mark.parametrize("lane", ["observer", "thoughts"])
def test_the_live_stream_tells_that_a_flow_failed(desk: Desk, lane: str) -> None:
    """The page loads the turn again, which shows the failed job with "Run again". Nothing is flagged: no promise is lost."""
    turn = desk.reply(PROMISE)
    desk.model.script(lane, times=0, fault="401")
    queue(desk, lane, seq=turn.seq, key=f"{lane}:{turn.pk}")
    desk.run(lane)
    told = events(desk)[-1]
    assert (told["lane"], told["state"], told["turn"]) == (lane, "failed", str(turn.pk))
    assert {job["lane"]: job["state"] for job in desk.talk.turn(turn)["jobs"]}[lane] == "failed"
    assert desk.talk.reload().flag == ""
