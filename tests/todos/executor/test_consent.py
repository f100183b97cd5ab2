"""Todos whose customer has refused what they would send."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.turns.services import give_fields, start_conversation
from projects.common.api_error import ApiError
from projects.records.attributes import set_attribute
from tests.todos.conftest import CUSTOMER
from tests.todos.executor.conftest import LETTER, Runs
from tests.todos.executor.test_planned_effect import arranged, todo
from todos.approvals.validity import undeliverable_of, why_not_runnable
from todos.content.deliverability import MissingContact
from todos.models import Todo
from tools.engine.execution.consent import refusal_reason, refusal_told
from tools.models import Effect, EffectState

__all__ = ["arranged", "todo"]

REASON = refusal_reason("email")
MAIL = "send_email_to_caller"


@pytest.fixture(autouse=True)
def _texts(runs: Runs) -> None:
    with runs.tenant.tx():
        set_attribute(runs.tenant.project, "project_attributes_setting_sms_send_information_enabled", True)


def refuse(runs: Runs, value: str = "false") -> None:
    runs.do(give_fields, runs.conversation.persona, {"email_opt_in": value})


def refuse_elsewhere(runs: Runs, **known: str) -> None:
    """Another visitor with the same address refuses e-mails."""
    with runs.tenant.tx():
        other = start_conversation(
            runs.tenant.project, channel="chat", external_id="elsewhere", known=known, metadata={}
        )
        give_fields(other.persona, {"email_opt_in": "false"})


def assert_nothing_went_out(runs: Runs, todo: Todo) -> None:
    [effect] = runs.effects(todo)
    assert (effect.state, effect.error, effect.attempts) == (EffectState.FAILED, REASON, 0)
    assert (effect.adapter, effect.request) == ("", None)


def test_a_withdrawal_after_the_approval_stops_the_message(runs: Runs) -> None:
    """Nothing goes out, and staff reads why."""
    todo = runs.approved(runs.frozen())
    refuse(runs)
    todo = runs.run(todo)
    assert_nothing_went_out(runs, todo)
    assert (todo.status, todo.reason) == ("failed", f"{MAIL} was not done: {REASON}")


def test_a_withdrawal_while_a_promise_awaits_its_approval_stops_it(runs: Runs, todo: Todo, arranged: Effect) -> None:
    refuse(runs)
    with pytest.raises(ApiError):
        runs.approve(todo, runs.boss)
    assert runs.effects(todo) == []


def test_a_withdrawal_after_the_approval_of_a_promise_stops_it(runs: Runs, todo: Todo, arranged: Effect) -> None:
    todo = runs.approved(todo)
    refuse(runs)
    assert_nothing_went_out(runs, runs.run(todo))


def test_a_withdrawal_in_another_channel_stops_the_message(runs: Runs) -> None:
    todo = runs.approved(runs.frozen())
    refuse_elsewhere(runs, email=CUSTOMER["email"].upper())
    assert_nothing_went_out(runs, runs.run(todo))


def test_the_model_of_a_todo_reads_that_the_customer_refused(runs: Runs) -> None:
    """It may choose another of the type's tools."""
    kind = runs.kind(MAIL, "send_sms_tool")
    todo = runs.approved(runs.todo(kind))
    refuse(runs)
    runs.calls_tool(MAIL)
    runs.says("I could not write to them.")
    todo = runs.run(todo)
    assert_nothing_went_out(runs, todo)
    assert refusal_told("email") in runs.result(todo)
    assert todo.status == "failed"


def test_a_message_goes_out_once_consent_is_given_again(runs: Runs) -> None:
    todo = runs.approved(runs.frozen())
    refuse(runs)
    refuse(runs, "true")
    assert runs.run(todo).status == "completed"


@pytest.mark.parametrize("refusing", [refuse, lambda runs: refuse_elsewhere(runs, email=CUSTOMER["email"])])
def test_staff_reads_before_the_approval_that_the_customer_refused(runs: Runs, refusing: Any) -> None:
    refusing(runs)
    todo = runs.frozen()
    with runs.tenant.tx():
        [unsent] = undeliverable_of(todo)
        assert unsent.missing == MissingContact.CONSENT
        assert why_not_runnable(todo) == unsent.reason
        assert unsent.reason.startswith(REASON)
    with pytest.raises(ApiError):
        runs.approve(todo, runs.boss)


def test_an_approved_address_is_bound_by_its_own_refusal_only(runs: Runs) -> None:
    """A colleague's address, in a todo about a customer who refuses e-mails."""
    refuse(runs)
    note = {"to": "chef@nello.example", **LETTER}
    assert runs.execute(runs.frozen("send_email", note)).status == "completed"


def test_an_approved_address_that_refused_gets_nothing(runs: Runs) -> None:
    refuse_elsewhere(runs, email="chef@nello.example")
    note = {"to": "Chef@nello.example", **LETTER}
    assert_nothing_went_out(runs, runs.execute(runs.frozen("send_email", note)))
