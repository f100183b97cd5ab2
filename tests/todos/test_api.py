"""The API of todos: its contract and hostile input."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client

from conversations.models import Conversation
from projects.agents.services import create_project
from projects.models import Member, User
from tests.api.conftest import error_of
from tests.conftest import PASSWORD, Tenant
from tests.conversations.pipeline.conftest import configure
from tests.todos.conftest import REFUND, Desk
from todos.content.lifecycle import Actor
from todos.content.snapshot import content_of, hash_of
from todos.models import Todo, TodoEvent, TodoSource, TodoStatus
from todos.services import make_todo
from tools.engine.custom import service as custom_tools

TODOS = "/api/v1/todos"
TYPES = "/api/v1/todo-types"
RULES = "/api/v1/standing-rules"
PLAN = {"tool": REFUND, "arguments": {"body": {"amount": 82}}}


def send(client: Client, method: str, path: str, body: dict[str, Any] | None = None, **headers: str) -> Any:
    data = b"" if body is None else json.dumps(body).encode()
    return client.generic(method, path, data, content_type="application/json", headers=headers)


def made(api: Client, **fields: Any) -> dict[str, Any]:
    response = send(api, "POST", TODOS, {"description": "Pay Ada back", **PLAN, **fields})
    assert response.status_code == 201, response.content
    return response.json()  # type: ignore[no-any-return]


def session(tenant: Tenant, user: User, *, csrf: bool = True) -> Client:
    """A member's browser session in the project."""
    client = Client(enforce_csrf_checks=True, headers={"X-Project": tenant.project.slug})
    client.force_login(user)
    if csrf:
        client.cookies["csrftoken"] = client.defaults["HTTP_X_CSRFTOKEN"] = "a" * 32
    return client


# The contract


def test_a_todo_is_created_approved_and_retrieved(desk: Desk, api: Client) -> None:
    todo = made(api)
    assert (todo["status"], todo["tool"], todo["arguments"], todo["approval"]) == (
        "pending_review",
        *PLAN.values(),
        None,
    )
    approved = send(api, "POST", f"{TODOS}/{todo['id']}/approve").json()
    assert (approved["status"], approved["approval"]["approver"]) == ("approved", "the API key test")
    read = api.get(f"{TODOS}/{todo['id']}").json()
    assert [event["what"] for event in read["history"]] == ["made", "approved"]
    assert (read["steps"], read["effects"]) == ([], [])


def test_a_todo_names_its_conversation_and_customer(desk: Desk, api: Client, conversation: Conversation) -> None:
    todo = made(api, conversation=str(conversation.pk))
    assert (todo["conversation"], todo["persona"]) == (str(conversation.pk), str(conversation.persona_id))
    assert todo["content"]["contact"]["email"] == "ada@example.com"
    assert [one["id"] for one in api.get(TODOS, {"conversation": conversation.pk}).json()["results"]] == [todo["id"]]


def test_a_key_reaches_only_the_todos_of_its_project(desk: Desk, tenant: Tenant, api: Client) -> None:
    with tenant.tx():
        other = create_project("Other", config=tenant.project.agent_version.config)
        theirs = make_todo(other, description="Theirs", source=TodoSource.PERSON, actor=Actor("Nello"))
    seen = {"todo": str(theirs.pk), **desk.do(lambda: {"version": 1, "content_hash": hash_of(content_of(theirs))})}
    assert api.get(TODOS).json()["results"] == []
    assert send(api, "PATCH", f"{TODOS}/{theirs.pk}", {"description": "Ours"}).status_code == 404
    [answer] = send(api, "POST", f"{TODOS}/approve", {"todos": [seen]}).json()["results"]
    assert (answer["approval"], answer["refused"]) == (None, "No such todo.")


def test_an_edit_of_an_old_version_is_409_with_the_differences(desk: Desk, api: Client) -> None:
    path = f"{TODOS}/{made(api)['id']}"
    first, second = (send(api, "PATCH", path, {"description": word, "version": 1}) for word in ("Pay Bob", "Pay Eve"))
    assert first.status_code == 200
    assert "Pay Ada back → Pay Bob" in error_of(second, status=409)["message"]


@pytest.mark.requirement("L09")
def test_a_type_is_created_and_used_by_id_or_name(desk: Desk, api: Client) -> None:
    body = {"name": "Refund", "description": "Money is paid back.", "tools": [REFUND], "model": "gpt-5"}
    kind = send(api, "POST", TYPES, body).json()
    assert {name: kind[name] for name in body} == body
    todos = [send(api, "POST", TODOS, {"description": "x", "type": said}).json() for said in (kind["id"], "Refund")]
    assert [todo["type"] for todo in todos] == [kind["id"], kind["id"]]
    assert kind["id"] in [one["id"] for one in api.get(TYPES).json()["results"]]


def test_an_edit_of_an_approved_todo_returns_it_to_review(desk: Desk, api: Client) -> None:
    address = f"{TODOS}/{made(api)['id']}"
    send(api, "POST", f"{address}/approve")
    edited = send(api, "PATCH", address, {"arguments": {"body": {"amount": 820}}}).json()
    assert (edited["status"], edited["version"], edited["arguments"]) == (
        "pending_review",
        2,
        {"body": {"amount": 820}},
    )
    assert edited["approval"]["ended_at"] is not None


def test_a_todo_is_rejected_and_cancelled_with_a_reason(desk: Desk, api: Client) -> None:
    for verb, status in (("reject", "rejected"), ("cancel", "cancelled")):
        answer = send(api, "POST", f"{TODOS}/{made(api)['id']}/{verb}", {"reason": "No longer wanted."}).json()
        assert (answer["status"], answer["reason"]) == (status, "No longer wanted.")


def test_a_todo_is_done_by_hand(desk: Desk, api: Client) -> None:
    for end, body, status in (
        ("complete", {"note": "Paid."}, "completed"),
        ("fail", {"reason": "No money."}, "failed"),
    ):
        address = f"{TODOS}/{made(api)['id']}"
        taken = send(api, "POST", f"{address}/take").json()
        assert (taken["status"], taken["taker"]) == ("in_progress", "the API key test")
        ended = send(api, "POST", f"{address}/{end}", body).json()
        assert (ended["status"], ended["reason"]) == (status, *body.values())
        assert error_of(send(api, "POST", f"{address}/{end}", body), status=409)["code"] == "wrong_state"
    assert error_of(send(api, "POST", f"{address}/fail", {}), status=400)["field"] == "reason"


def test_an_approval_returns_the_approved_content(desk: Desk, api: Client) -> None:
    """Also if the caller named no version."""
    todo = made(api)
    approved = send(api, "POST", f"{TODOS}/{todo['id']}/approve").json()["approved"]
    assert approved == {name: todo[name] for name in ("version", "content_hash", "content")}


@pytest.mark.requirement("L11")
def test_a_types_recipients_apply_to_todos_without_their_own(desk: Desk, api: Client) -> None:
    body = {"name": "Team", "description": "x", "tools": ["send_email"], "recipients": ["crew@example.com"]}
    assert send(api, "POST", TYPES, body).json()["recipients"] == ["crew@example.com"]
    for own, written in (([], ["crew@example.com"]), (["ada@example.com"], ["ada@example.com"])):
        todo = send(api, "POST", TODOS, {"description": "x", "type": "Team", "recipients": own}).json()
        assert (todo["content"]["recipients"], todo["why_not_runnable"]) == (written, None)


def test_a_todo_that_failed_is_reviewed_again(desk: Desk, api: Client) -> None:
    todo = made(api)
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo["id"]).update(status=TodoStatus.FAILED)
    again = send(api, "POST", f"{TODOS}/{todo['id']}/review-again", {"repeats": []}).json()
    assert (again["status"], again["version"]) == ("pending_review", 2)


def test_the_list_is_filtered_by_state(desk: Desk, api: Client) -> None:
    first, second = made(api), made(api)
    send(api, "POST", f"{TODOS}/{second['id']}/reject")
    assert [one["id"] for one in api.get(TODOS, {"status": "pending_review"}).json()["results"]] == [first["id"]]
    assert error_of(api.get(TODOS, {"status": "done"}), status=400)["field"] == "status"


def test_a_repeated_post_creates_one_todo(desk: Desk, api: Client) -> None:
    body = {"description": "Pay Ada back", **PLAN}
    ids = {send(api, "POST", TODOS, body, **{"Idempotency-Key": "k"}).json()["id"] for _ in range(2)}
    assert len(ids) == 1


def test_the_history_omits_content_snapshots(desk: Desk, api: Client) -> None:
    """They hold the customer's address."""
    todo = made(api)
    assert all("content" not in event["detail"] for event in todo["history"])
    with desk.tenant.tx():
        assert TodoEvent.objects.get(todo=todo["id"]).detail["content"] == todo["content"]


def test_a_standing_rule_is_previewed_created_and_ended(desk: Desk, api: Client) -> None:
    made(api)
    body = {"tool": REFUND, "allowed": {"body.amount": {"at_most": 100}}, "most_per_day": 5}
    preview = send(api, "POST", f"{RULES}/preview", body).json()
    assert (preview["considered"], len(preview["results"])) == (1, 1)
    rule = send(api, "POST", RULES, body).json()
    assert made(api)["approval"]["rule"] == rule["id"]
    assert send(api, "DELETE", f"{RULES}/{rule['id']}").json()["ended_at"] is not None
    assert made(api)["status"] == "pending_review"


# Methods and repeats


def test_approving_by_get_is_405(desk: Desk, api: Client) -> None:
    todo = made(api)
    for path in (f"{TODOS}/{todo['id']}/approve", f"{TODOS}/approve"):
        assert error_of(api.get(path), status=405)["code"] == "method_not_allowed"
    assert desk.jobs() == []


def test_the_error_for_id_in_a_batch_suggests_todo(desk: Desk, api: Client) -> None:
    seen = {"id": made(api)["id"], "version": 1, "content_hash": "0" * 64}
    error = error_of(send(api, "POST", f"{TODOS}/approve", {"todos": [seen]}), status=400)
    assert (error["field"], error["message"]) == ("todos.0.id", "todos.0.id cannot be set. Did you mean 'todo'?")


def test_approving_twice_is_200_and_names_the_approver(desk: Desk, api: Client, owner: Member) -> None:
    todo = made(api)
    first = send(api, "POST", f"{TODOS}/{todo['id']}/approve").json()
    second = send(session(desk.tenant, desk.tenant.owner), "POST", f"{TODOS}/{todo['id']}/approve")
    assert (second.status_code, second.json()["approval"]["id"]) == (200, first["approval"]["id"])
    assert first["message"].startswith("Approved by the API key test at ")
    assert second.json()["message"].startswith("Already approved by the API key test at ")


def test_members_must_name_the_version_they_approve(desk: Desk, api: Client) -> None:
    """The same applies to taking a todo on."""
    address, member = f"{TODOS}/{(todo := made(api))['id']}", session(desk.tenant, desk.tenant.owner)
    for verb in ("approve", "take"):
        error = error_of(send(member, "POST", f"{address}/{verb}", {}), status=400)
        assert (error["code"], error["field"]) == ("missing_version", "version")
    seen = {name: todo[name] for name in ("version", "content_hash")}
    assert send(member, "POST", f"{address}/approve", seen).json()["status"] == "approved"


def test_approving_a_changed_todo_is_409_with_the_differences(desk: Desk, api: Client) -> None:
    todo = made(api)
    seen = {"version": todo["version"], "content_hash": todo["content_hash"]}
    send(api, "PATCH", f"{TODOS}/{todo['id']}", {"arguments": {"body": {"amount": 820}}})
    error = error_of(send(api, "POST", f"{TODOS}/{todo['id']}/approve", seen), status=409)
    assert (error["code"], "82 → 820" in error["message"]) == ("changed", True)
    assert error["message"].startswith("This todo changed since you opened it.")


def test_the_differences_start_from_the_version_the_caller_saw(desk: Desk, api: Client) -> None:
    """By the hash alone, and across several versions."""
    todo = made(api)
    address = f"{TODOS}/{todo['id']}"
    seen = send(api, "PATCH", address, {"arguments": {"body": {"amount": 820}}}).json()
    send(api, "PATCH", address, {"arguments": {"body": {"amount": 8200}}})
    error = error_of(send(api, "POST", f"{address}/approve", {"content_hash": seen["content_hash"]}), status=409)
    assert "820 → 8200" in error["message"]


@pytest.mark.parametrize("status", [TodoStatus.IN_PROGRESS, TodoStatus.COMPLETED])
def test_approving_again_once_it_runs_returns_the_same_approval(desk: Desk, api: Client, status: TodoStatus) -> None:
    """A client that repeats a lost request finds the todo running, because a run begins at once."""
    todo = made(api)
    first = send(api, "POST", f"{TODOS}/{todo['id']}/approve").json()
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo["id"]).update(status=status)
    second = send(api, "POST", f"{TODOS}/{todo['id']}/approve")
    assert (second.status_code, second.json()["approval"]["id"]) == (200, first["approval"]["id"])
    assert second.json()["status"] == status


@pytest.mark.parametrize("status", [TodoStatus.NEEDS_ATTENTION, TodoStatus.FAILED, TodoStatus.CANCELLED])
def test_approving_what_ended_otherwise_is_409(desk: Desk, api: Client, status: TodoStatus) -> None:
    todo = made(api)
    send(api, "POST", f"{TODOS}/{todo['id']}/approve")
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo["id"]).update(status=status)
    error = error_of(send(api, "POST", f"{TODOS}/{todo['id']}/approve"), status=409)
    assert "Approved by the API key test at " in error["message"]


def test_an_approvals_time_is_the_businesss_with_its_offset(desk: Desk, api: Client) -> None:
    configure(desk.tenant, timezone="Asia/Tokyo")
    todo = made(api)
    answer = send(api, "POST", f"{TODOS}/{todo['id']}/approve").json()
    with desk.tenant.tx():
        Todo.objects.filter(pk=todo["id"]).update(status=TodoStatus.FAILED)
    error = error_of(send(api, "POST", f"{TODOS}/{todo['id']}/approve"), status=409)
    for message in (answer["message"], error["message"]):
        assert re.search(r" at \d{4}-\d\d-\d\d \d\d:\d\d\+09:00\b", message)


def test_approving_what_somebody_does_by_hand_is_409(desk: Desk, api: Client) -> None:
    todo = made(api)
    for verb in ("approve", "take"):
        send(api, "POST", f"{TODOS}/{todo['id']}/{verb}")
    assert error_of(send(api, "POST", f"{TODOS}/{todo['id']}/approve"), status=409)["code"] == "wrong_state"


def test_approving_a_todo_with_a_deleted_tool_is_refused(desk: Desk, api: Client) -> None:
    todo = made(api)
    with desk.tenant.tx():
        custom_tools.remove(desk.tenant.project, REFUND)
    error = error_of(send(api, "POST", f"{TODOS}/{todo['id']}/approve"), status=409)
    assert error["message"] == f"Tool {REFUND} no longer exists."


def test_the_shown_hash_is_the_approved_hash(desk: Desk, api: Client) -> None:
    """Clients can compute it."""
    todo = made(api)
    assert hash_of(todo["content"]) == todo["content_hash"]
    with desk.tenant.tx():
        assert content_of(Todo.objects.get(pk=todo["id"])) == todo["content"]


BAD_TODOS: list[tuple[dict[str, Any], str, int]] = [
    ({"description": " "}, "description", 400),
    ({"description": "x" * 8001}, "description", 400),
    ({"description": None}, "description", 400),
    ({"type": "No such type"}, "type", 422),
    ({"type": str(uuid4())}, "type", 422),
    ({"type": 7.5}, "type", 400),
    ({"tool": "no_such_tool"}, "tool", 422),
    ({"arguments": []}, "arguments", 400),
    ({"arguments": {"body": {"amount": "82"}}}, "arguments.body.amount", 422),
    ({"arguments": {}}, "arguments.body", 422),
    ({"tool": None}, "arguments", 422),
    ({"recipients": "ada@example.com"}, "recipients", 400),
    ({"recipients": ["ada"]}, "recipients.0", 400),
    ({"recipients": ["ada@example.com\r\nBcc: eve@example.com"]}, "recipients.0", 400),
    ({"conversation": "1"}, "conversation", 400),
    ({"conversation": str(uuid4())}, "conversation", 422),
    ({"persona": str(uuid4())}, "persona", 422),
    ({"status": "approved"}, "status", 400),
    ({"approval": {}}, "approval", 400),
    ({"version": 7}, "version", 400),
    ({"organization": str(uuid4())}, "organization", 400),
    ({"source": "extraction"}, "source", 400),
]


def test_invalid_todos_are_refused_and_name_the_field(desk: Desk, api: Client) -> None:
    """Clients can't set the approval."""
    for fields, field, status in BAD_TODOS:
        error = error_of(send(api, "POST", TODOS, {"description": "Pay", **PLAN, **fields}), status=status)
        assert error["field"] == field, (fields, error)
    with desk.tenant.tx():
        assert not Todo.objects.exists()


def test_a_conversation_of_another_tenant_is_not_found(
    desk: Desk, stranger: Tenant, conversation: Conversation
) -> None:
    theirs = Client(headers=stranger.headers)
    answers = [
        send(theirs, "POST", TODOS, {"description": "x", "conversation": str(one)}).json()["error"]["message"]
        for one in (conversation.pk, uuid4())
    ]
    assert answers[0] == answers[1]


BAD_APPROVALS = [
    {"version": 0},
    {"version": "one"},
    {"content_hash": "x"},
    {"content_hash": "A" * 64},
    {"approved_by": str(uuid4())},
    {"member": 1},
]


def test_invalid_approvals_are_400(desk: Desk, api: Client) -> None:
    todo = made(api)
    for body in BAD_APPROVALS:
        error = error_of(send(api, "POST", f"{TODOS}/{todo['id']}/approve", body), status=400)
        assert error["field"] == next(iter(body))
    assert desk.jobs() == []


# Stolen sessions and forged requests


def test_a_post_without_a_csrf_token_approves_nothing(desk: Desk, api: Client) -> None:
    todo = made(api)
    forged = session(desk.tenant, desk.tenant.owner, csrf=False)
    for path, body in ((f"{TODOS}/{todo['id']}/approve", None), (f"{TODOS}/approve", {"todos": []})):
        assert error_of(send(forged, "POST", path, body), status=403)["code"] == "csrf_failed"
    assert desk.jobs() == []


def test_session_cookies_are_same_site_and_http_only() -> None:
    assert (settings.SESSION_COOKIE_SAMESITE, settings.SESSION_COOKIE_HTTPONLY) == ("Lax", True)


def choices(desk: Desk, count: int) -> list[dict[str, Any]]:
    return [{"todo": str(todo.pk), **desk.seen(todo)} for todo in (desk.refund(at + 1) for at in range(count))]


def test_more_than_20_approvals_need_confirmation_and_the_password(desk: Desk) -> None:
    chosen, stolen = choices(desk, 21), session(desk.tenant, desk.tenant.owner)
    body = {"todos": chosen, "confirmed": True}
    assert error_of(send(stolen, "POST", f"{TODOS}/approve", body), status=403)["code"] == "sign_in_again"
    assert desk.jobs() == []
    stolen.post("/account/reauthenticate/", {"password": PASSWORD, "next": "/"})
    unconfirmed = send(stolen, "POST", f"{TODOS}/approve", {"todos": chosen})
    assert error_of(unconfirmed, status=409)["code"] == "confirmation_needed"
    answers = send(stolen, "POST", f"{TODOS}/approve", body).json()["results"]
    assert [answer["refused"] for answer in answers] == [None] * 21
    assert len(desk.jobs()) == 21


def test_twenty_todos_are_approved_without_confirmation(desk: Desk) -> None:
    body = {"todos": choices(desk, 20)}
    answers = send(session(desk.tenant, desk.tenant.owner), "POST", f"{TODOS}/approve", body).json()["results"]
    assert all(answer["approval"]["is_complete"] for answer in answers)


def test_a_todo_of_another_tenant_in_a_batch_is_refused(desk: Desk, api: Client, stranger: Tenant) -> None:
    [mine] = choices(desk, 1)
    theirs = {**mine, "todo": str(Desk(stranger).refund(tool="", arguments=None).pk)}
    answers = send(api, "POST", f"{TODOS}/approve", {"todos": [mine, theirs]}).json()["results"]
    assert [answer["refused"] for answer in answers] == [None, "No such todo."]


def test_a_viewer_cannot_decide(desk: Desk, viewer: User) -> None:
    todo, looking = desk.refund(), session(desk.tenant, viewer)
    for verb in ("approve", "reject", "cancel", "review-again"):
        answer = send(looking, "POST", f"{TODOS}/{todo.pk}/{verb}")
        assert error_of(answer, status=403)["code"] == "missing_scope"
