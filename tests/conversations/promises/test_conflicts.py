"""Tools with the same tag exclude each other within a turn; an undecided conflict runs none of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conversations.followups.follow_ups import GOODBYE
from conversations.models import Analysis, Conversation, Turn
from jobs.errors import WrongState
from jobs.models import Job, State
from jobs.services import run_again
from tests.console.pages.conftest import browser
from tests.conversations.promises.conftest import LINK, PROMISE, SMS, Desk, fired
from tests.processes import ForkServer
from todos.models import Todo, TodoStatus
from tools.engine.analysis.conflicts import resolve_conflict
from tools.engine.analysis.steps import compiled_object, tool_of
from tools.engine.catalogue import at_moment, compile_tools
from tools.engine.definition import Trigger
from tools.engine.promises import STAFF_DEADLINE
from tools.engine.registry import builtin_tools
from tools.engine.skills.rerank import RankedTool, Ranking
from tools.engine.verdicts import ONE_PER_ANSWER, Judgement

CREW = "notify_crew"
AVAILABILITY, PRODUCT = "check_availability_tool", "check_product_or_service_availability"


@pytest.mark.requirement("N41", "N42")
@pytest.mark.parametrize(("tag", "rivals"), [("sms", {SMS, LINK}), ("availability", {AVAILABILITY, PRODUCT})])
def test_the_built_in_tools_that_conflict_are_known(tag: str, rivals: set[str]) -> None:
    assert {name for name, tool in builtin_tools().items() if tool.definition.tag == tag} == rivals


@pytest.mark.requirement("N40", "N41")
def test_of_two_tools_with_one_tag_only_the_ranked_winner_fires(desk: Desk) -> None:
    desk.reads(SMS, LINK)
    desk.ranks(**{SMS: 40, LINK: 80})
    turn = desk.analyse(PROMISE)
    assert fired(turn) == [LINK]
    assert [effect["tool"] for effect in turn["effects"]] == [LINK]
    assert desk.steps(turn)[6] == {"winners": {"sms": LINK}, "ranked": ["sms"], "undecided": {}}


@pytest.mark.requirement("N43")
def test_the_loser_is_recorded_with_the_winners_name(desk: Desk) -> None:
    desk.reads(SMS, LINK)
    desk.ranks(**{SMS: 80, LINK: 40})
    lost = next(verdict for verdict in desk.analyse(PROMISE)["verdicts"] if verdict["tool"] == LINK)
    assert (lost["rule"], lost["reason"]) == ("lost_rerank", f"Lost rerank to {SMS} (tag sms).")


@pytest.mark.requirement("N42")
def test_two_availability_tools_become_one(desk: Desk) -> None:
    desk.switch_on("products_and_services_background_check_availability")
    desk.reads(AVAILABILITY, PRODUCT)
    desk.ranks(**{AVAILABILITY: 90, PRODUCT: 10})
    assert fired(desk.analyse(PROMISE)) == [AVAILABILITY]


@pytest.mark.requirement("N43")
def test_the_ranking_prompt_has_the_detections_structure(desk: Desk) -> None:
    desk.reads(SMS, LINK)
    desk.ranks(**{SMS: 80, LINK: 40})
    desk.analyse(PROMISE)
    [ranking] = desk.model.requests("rerank")
    [detection] = [one for one in desk.model.requests("detect") if SMS in one["messages"][0]["content"]]
    asked, listed = (one["messages"][0]["content"].partition("\n# Tools\n")[2] for one in (detection, ranking))
    # Equal condition texts are listed once, so a text may be at another position than its name.
    assert all(line in asked for line in listed.splitlines() if not line.startswith("- "))
    assert all(line.partition(": ")[0] in asked for line in listed.splitlines())
    assert ranking["messages"][1] == detection["messages"][1]


@pytest.mark.requirement("N43")
@pytest.mark.parametrize("reads_history", [True, False])
def test_the_ranking_includes_the_conversation_if_a_candidate_needs_it(desk: Desk, reads_history: bool) -> None:
    """The prompt is the detection's."""
    desk.tool(CREW, conflictPolicy={"tag": "sms"}, useConversationHistory=reads_history)
    desk.reads(SMS, CREW)
    desk.ranks(**{SMS: 80, CREW: 40})
    desk.analyse(PROMISE, hears="The blue door, please")
    [request] = desk.model.requests("rerank")
    assert ("The blue door" in "".join(message["content"] for message in request["messages"])) is reads_history


@pytest.mark.requirement("N10")
def test_an_untagged_tool_starts_before_the_ranking(desk: Desk) -> None:
    """Uncontested tools are committed first, the others after the ranking."""
    desk.tool(CREW)
    desk.reads(CREW, SMS, LINK)
    desk.model.script("rerank", times=3, fault="500")
    turn = desk.reply(PROMISE)
    desk.run("tool_caller")
    assert [effect.tool for effect in desk.effects()] == [CREW]
    assert desk.analysis().finished_at is None
    assert [promise.tool for promise in desk.promises()] == [CREW]
    assert [verdict["tool"] for verdict in desk.talk.turn(turn)["verdicts"]] == [CREW]


@pytest.mark.requirement("N10")
def test_a_later_attempt_only_ranks_what_was_left(desk: Desk) -> None:
    """The detection is a stored decision."""
    desk.tool(CREW)
    desk.reads(CREW, SMS, LINK)
    desk.model.script("rerank", times=3, fault="500")
    turn = desk.reply(PROMISE)
    desk.run("tool_caller")
    detections = len(desk.model.requests("detect"))
    desk.model.reset()
    desk.ranks(**{SMS: 80, LINK: 40})
    hurry(desk)
    desk.run("tool_caller")
    assert sorted(fired(desk.talk.turn(turn))) == sorted([CREW, SMS])
    assert [effect.tool for effect in desk.effects()] == [CREW, SMS]
    assert (detections, desk.model.requests("detect")) == (2, [])
    executed = desk.steps(desk.talk.turn(turn))[7]["effects"]
    assert [one["tool"] for one in executed] == [CREW, SMS]


def hurry(desk: Desk) -> None:
    with desk.tenant.tx():
        Job.objects.filter(lane="tool_caller").update(run_after="2020-01-01T00:00Z")


UNUSABLE = {
    "a tie": [(SMS, 50), (LINK, 50)],
    "an unknown name": [("send_fax_tool", 90), (SMS, 10)],
    "Undecided actions": [],
}


@pytest.mark.parametrize("ranked", UNUSABLE.values(), ids=list(UNUSABLE))
def test_an_undecided_conflict_runs_no_tool_and_gives_the_reason(desk: Desk, ranked: Sequence[tuple[str, int]]) -> None:
    desk.reads(SMS, LINK)
    rows = [{"reason": "r", "tool": tool, "relevance": points} for tool, points in ranked]
    desk.model.script("rerank", json={"ranking": rows})
    turn = desk.analyse(PROMISE)
    assert (fired(turn), turn["effects"]) == ([], [])
    reasons = {verdict["reason"] for verdict in turn["verdicts"] if verdict["rule"] == "lost_rerank"}
    assert len(reasons) == 1
    assert reasons.pop().startswith(f"Undecided between {SMS} and {LINK} (tag sms): ")
    assert desk.steps(turn)[6]["winners"] == {"sms": None}


def test_an_invalid_ranking_runs_no_tool(desk: Desk) -> None:
    desk.reads(SMS, LINK)
    desk.model.script("rerank", times=0, fault="garbage_json")
    turn = desk.analyse(PROMISE)
    assert turn["effects"] == []
    assert {verdict["rule"] for verdict in turn["verdicts"]} == {"lost_rerank"}


def test_an_undecided_promise_is_open_and_a_todo_for_staff(desk: Desk) -> None:
    """The agent has promised it, and nothing has decided that it will not happen."""
    desk.reads(SMS, LINK)
    desk.ranks(**{SMS: 50, LINK: 50})
    turn = desk.analyse(PROMISE)
    [promise] = desk.promises()
    assert (promise.state, promise.quote, promise.tool, promise.closed_at) == ("open", PROMISE, "", None)
    assert promise.due_at - promise.created_at > STAFF_DEADLINE / 2
    [todo] = todos_of(desk)
    assert (todo.promise_id, todo.status, str(todo.turn_id)) == (promise.pk, TodoStatus.PENDING_REVIEW, turn["id"])
    assert all(said in todo.description for said in (PROMISE, SMS, LINK, "Undecided between"))


def todos_of(desk: Desk) -> list[Todo]:
    with desk.tenant.tx():
        return list(Todo.objects.order_by("created_at"))


def test_an_undecided_conflict_leaves_each_of_two_promises_to_staff(desk: Desk) -> None:
    """None is lost, and a quote within another is the same promise."""
    desk.tool(CREW, conflictPolicy={"tag": "sms"})
    said = {SMS: "I'll text you the details", LINK: "I'll send you the link", CREW: "text you the details"}
    verdicts = [{**reading_of(desk, tool), "quote": quote} for tool, quote in said.items()]
    desk.model.script("detect", match=f"## {SMS}\n", json={"verdicts": verdicts, "unserved": []})
    desk.ranks(**{SMS: 50, LINK: 50, CREW: 50})
    desk.analyse(f"{said[SMS]}, and {said[LINK]}.")
    quotes = [said[SMS], said[LINK]]
    assert sorted((promise.quote, promise.state) for promise in desk.promises()) == sorted(
        (one, "open") for one in quotes
    )
    assert sorted(todo.quote for todo in todos_of(desk)) == sorted(quotes)


def reading_of(desk: Desk, name: str, *, quote: str = PROMISE) -> dict[str, Any]:
    conditions = [{"name": one, "met": True} for one in judgement(desk, name).tool.definition.conditions]
    return {"quote": quote, "tool": name, "conditions": conditions, "rule": None}


def test_a_ranking_with_a_winner_leaves_nothing_to_staff(desk: Desk) -> None:
    desk.reads(SMS, LINK)
    desk.ranks(**{SMS: 40, LINK: 80})
    desk.analyse(PROMISE)
    assert [(promise.tool, promise.state) for promise in desk.promises()] == [(LINK, "open")]
    assert todos_of(desk) == []


TEXT, LINK_WORDS = "I'll text you the address", "I'll also text you the link to your booking"


def test_a_promise_in_other_words_that_lost_the_ranking_is_left_to_staff(desk: Desk) -> None:
    """One tool of a tag runs per reply, and the agent promised two things."""
    readings = [reading_of(desk, SMS, quote=TEXT), reading_of(desk, LINK, quote=LINK_WORDS)]
    desk.model.script("detect", match=f"## {SMS}\n", json={"verdicts": readings, "unserved": []})
    desk.ranks(**{SMS: 80, LINK: 40})
    desk.analyse(f"{TEXT}. {LINK_WORDS}.")
    assert [(one.quote, one.tool, one.owner) for one in desk.promises()] == [
        (TEXT, SMS, "tool"),
        (LINK_WORDS, "", "staff"),
    ]


def test_a_second_promise_of_the_same_tool_is_left_to_staff(desk: Desk) -> None:
    """The tool runs once per reply and has one verdict; neither promise is forgotten, and the second says why."""
    again = "And I'll text you the menu"
    readings = [reading_of(desk, SMS, quote=quote) for quote in (TEXT, again, "text you the address")]
    desk.model.script("detect", match=f"## {SMS}\n", json={"verdicts": readings, "unserved": []})
    turn = desk.analyse(f"{TEXT}. {again}.")
    assert [(one["tool"], one["rule"]) for one in turn["verdicts"]] == [(SMS, None)]
    assert [(one.quote, one.tool, one.owner) for one in desk.promises()] == [(again, "", "staff"), (TEXT, SMS, "tool")]
    assert {one["quote"]: one["reason"] for one in turn["promises"]}[again] == ONE_PER_ANSWER
    with desk.tenant.tx():
        assert Todo.objects.get().quote == again


def test_a_dry_run_has_one_verdict_per_tool(desk: Desk) -> None:
    readings = [reading_of(desk, SMS, quote=quote) for quote in (TEXT, "And I'll text you the menu")]
    desk.model.script("detect", match=f"## {SMS}\n", json={"verdicts": readings, "unserved": []})
    body = {"answer": f"{TEXT}. And I'll text you the menu.", "channel": "phone"}
    answer = Client(headers=desk.tenant.headers).post("/api/v1/tools/evaluate", body, content_type="application/json")
    assert [(one["tool"], one["rule"]) for one in answer.json()["verdicts"]] == [(SMS, None)]


@pytest.mark.requirement("N13")
def test_a_rerank_ends_with_its_winner_in_the_trace_and_the_live_event(desk: Desk) -> None:
    """Both were written before the ranking with what had been decided by then: nothing."""
    desk.reads(SMS, LINK)
    desk.ranks(**{SMS: 40, LINK: 80})
    turn = desk.analyse(PROMISE)
    steps = desk.steps(turn)
    assert [step["number"] for step in turn["analysis"]] == list(range(1, 10))
    assert [one["tool"] for one in steps[7]["effects"]] == [LINK]
    assert steps[9] == {"tools_called": True, "waiting": False}
    assert turn["tools_called"] is True
    assert live_end(desk)["fired"] == [LINK]
    with desk.tenant.tx():
        assert Job.objects.get(lane="tool_caller", key__endswith="test").state == State.DONE
        assert desk.talk.conversation.events.filter(idn="effect_planned").count() == 1


def live_end(desk: Desk) -> dict[str, Any]:
    """The tool caller's last event in the live stream."""
    with desk.tenant.tx():
        return dict(desk.talk.conversation.events.filter(payload__lane="tool_caller").order_by("-seq")[0].payload)


@pytest.mark.requirement("T22")
def test_a_rerank_ends_with_the_wait_of_its_winner(desk: Desk) -> None:
    desk.switch_on("products_and_services_background_check_availability")
    desk.reads(AVAILABILITY, PRODUCT)
    desk.ranks(**{AVAILABILITY: 90, PRODUCT: 10})
    turn = desk.analyse(PROMISE)
    assert [wait["effect"] for wait in turn["waits"]] == [turn["effects"][0]["id"]]
    assert desk.steps(turn)[9] == {"tools_called": True, "waiting": True}


@pytest.mark.requirement("N12")
def test_a_rerank_that_chooses_the_goodbye_clears_the_follow_up_timer(desk: Desk) -> None:
    goodbye = builtin_tools()[GOODBYE].definition.conditions
    desk.tool(CREW, conflictPolicy={"tag": "end"})
    desk.tool(
        GOODBYE,
        conflictPolicy={"tag": "end"},
        conditions={name: {"type": "boolean", "description": one.description} for name, one in goodbye.items()},
        is_heard=False,
    )
    desk.reads(GOODBYE, CREW, quote="Goodbye, Ada")
    desk.ranks(**{GOODBYE: 90, CREW: 10})
    turn = desk.reply("Goodbye, Ada!")
    with desk.tenant.tx():
        Conversation.objects.update(follow_up_at="2099-01-01T00:00Z")
    desk.run("tool_caller")
    assert fired(desk.talk.turn(turn)) == [GOODBYE]
    assert desk.talk.reload().follow_up_at is None


def test_a_permanently_failed_ranking_runs_no_tool(desk: Desk) -> None:
    """The job fails visibly, and the trace is complete."""
    desk.reads(SMS, LINK)
    desk.model.script("rerank", times=0, fault="401")
    turn = desk.reply(PROMISE)
    desk.run("tool_caller")
    with desk.tenant.tx():
        assert Job.objects.get(lane="tool_caller", key__endswith="test").state == State.FAILED
        assert Analysis.objects.get().finished_at is not None
    assert desk.talk.turn(turn)["effects"] == []
    assert {verdict["rule"] for verdict in desk.talk.turn(turn)["verdicts"]} == {"lost_rerank"}
    assert live_end(desk)["state"] == "done"


def test_a_permanently_failed_ranking_leaves_the_promise_to_staff(desk: Desk) -> None:
    """Once: a ranking that ran again would do what a person may have done meanwhile."""
    desk.reads(SMS, LINK)
    desk.model.script("rerank", times=0, fault="401")
    desk.reply(PROMISE)
    desk.run("tool_caller")
    assert [(promise.state, promise.tool) for promise in desk.promises()] == [("open", "")]
    assert [todo.quote for todo in todos_of(desk)] == [PROMISE]
    with desk.tenant.tx(), pytest.raises(WrongState, match="analyzed"):
        run_again(desk.tenant.project, Job.objects.get(lane="tool_caller", state=State.FAILED).pk)


def test_a_ranking_that_failed_is_not_run_again_from_the_page(desk: Desk) -> None:
    """The refusal changes nothing."""
    desk.reads(SMS, LINK)
    desk.model.script("rerank", times=0, fault="401")
    desk.reply(PROMISE)
    desk.run("tool_caller")
    with desk.tenant.tx():
        job = Job.objects.get(lane="tool_caller", state=State.FAILED)
    page = reverse("failed_jobs", kwargs={"project_slug": desk.tenant.project.slug})
    assert "analyzed" in browser(desk.tenant.owner).post(page, {"job": job.pk}, follow=True).content.decode()
    with desk.tenant.tx():
        job.refresh_from_db()
        assert (job.state, bool(job.error)) == (State.FAILED, True)


@pytest.mark.requirement("N10", "N40")
def test_two_contested_tags_have_one_winner_each(desk: Desk) -> None:
    desk.switch_on("products_and_services_background_check_availability")
    desk.reads(SMS, LINK, AVAILABILITY, PRODUCT)
    for one, other in ((SMS, LINK), (AVAILABILITY, PRODUCT)):
        rows = [{"reason": "r", "tool": tool, "relevance": points} for tool, points in ((one, 9), (other, 3))]
        desk.model.script("rerank", match=f"## {one}", json={"ranking": rows})
    assert sorted(fired(desk.analyse(PROMISE))) == sorted([AVAILABILITY, SMS])


@pytest.mark.requirement("N41")
def test_the_offline_model_ranks_by_the_answers_words(desk: Desk) -> None:
    """These words mean the booking link."""
    desk.reads(SMS, LINK, quote="I'll text you the link")
    turn = desk.analyse("I'll text you the link to manage your booking.")
    assert len(fired(turn)) == 1


def test_a_stored_tool_is_restored_unchanged(desk: Desk) -> None:
    with desk.tenant.tx():
        tools = at_moment(compile_tools(desk.tenant.project, channel="phone"), Trigger.COMMITMENT)
    stored = compiled_object(tools)
    assert [tool_of(tool.name, stored) for tool in tools if not tool.overrides] == [
        tool for tool in tools if not tool.overrides
    ]


def judgement(desk: Desk, name: str) -> Judgement:
    with desk.tenant.tx():
        tool = next(tool for tool in compile_tools(desk.tenant.project, channel="chat") if tool.name == name)
    return Judgement(tool=tool, fired=True, rule="", reason="", quote=PROMISE, conditions={})


def test_a_tool_ranked_twice_still_wins(desk: Desk) -> None:
    rivals = [judgement(desk, SMS), judgement(desk, LINK)]
    ranked = [RankedTool(reason="r", tool=tool, relevance=points) for tool, points in ((SMS, 9), (SMS, 9), (LINK, 1))]
    assert resolve_conflict("sms", rivals, Ranking(ranking=ranked)).winner == SMS


@pytest.mark.short_leases
def test_a_crash_between_decision_and_ranking_runs_each_tool_once(desk: Desk, processes: ForkServer) -> None:
    """The first decisions are kept; another worker ranks the rest."""
    desk.tool(CREW)
    for _ in range(2):
        desk.reads(CREW, SMS, LINK)
    desk.model.script(
        "rerank",
        times=0,
        json={"ranking": [{"reason": "r", "tool": SMS, "relevance": 9}, {"reason": "r", "tool": LINK, "relevance": 1}]},
    )
    doomed = processes.worker(crash_at="tool_caller.decided_pre_rerank:1")
    turn = desk.reply(PROMISE)
    doomed.wait()
    processes.worker()
    done = desk.talk.until_turn(turn, lambda turn: turn["analysis"] and len(turn["analysis"]) == 9)
    assert sorted(fired(done)) == sorted([CREW, SMS])
    with desk.tenant.tx():
        assert Turn.objects.get(pk=turn.pk).tools_called
    assert sorted(effect.tool for effect in desk.effects()) == sorted([CREW, SMS])
