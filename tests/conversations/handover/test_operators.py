"""Operators: takeover, silence of the agent, and hand-back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from conversations.followups.follow_ups import fire_follow_ups
from conversations.followups.system_events import post_event
from conversations.handover import operators
from conversations.live.event_log import open_log
from conversations.models import (
    Conversation,
    ConversationStatus,
    Event,
    Message,
    MessageRole,
    PersonaField,
    Turn,
    TurnStatus,
)
from conversations.turns.channel_signals import apply_signal
from conversations.turns.services import post_message
from jobs.errors import WrongState
from jobs.models import Job, State
from jobs.services import run_again
from projects.accounts.members import remove_member, set_role
from projects.models import Member, Role, User
from projects.records.audit import Actor
from tests.conversations.handover.conftest import offer
from tests.conversations.handover.test_requests import ask
from tests.conversations.threads import in_thread
from tests.conversations.tool_runs.turns import Turns
from tools.engine.execution.outcome import Signal
from tools.models import Escalation, EscalationState

JSON = {"content_type": "application/json"}


def take(turns: Turns, by: User) -> None:
    with turns.tenant.tx():
        operators.take_over(turns.conversation.pk, by=by)


def back(turns: Turns, by: User, *, is_forced: bool = False) -> Turn | None:
    with turns.tenant.tx():
        return operators.hand_back(turns.conversation.pk, by=by, is_forced=is_forced)


def now(turns: Turns) -> Conversation:
    with turns.tenant.tx():
        return Conversation.objects.select_related("operator").get(pk=turns.conversation.pk)


def agent_says(turns: Turns) -> list[str]:
    return [message.content for message in turns.messages() if message.role == MessageRole.AGENT]


@pytest.mark.requirement("W03")
def test_of_two_concurrent_takeovers_one_wins_and_the_other_names_the_winner(turns: Turns, lucia: User) -> None:
    ask(turns, offer(turns)["escalation"], email="a@b.example")
    refused = []

    def claim(user: User) -> None:
        try:
            with turns.tenant.tx():
                operators.claim_request(turns.conversation.pk, by=user)
        except WrongState as error:
            refused.append(error.message)

    with ThreadPoolExecutor(2) as pool:
        for work in [in_thread(pool, lambda user=user: claim(user)) for user in (lucia, turns.tenant.owner)]:
            work.result()
    winner = now(turns).operator
    assert winner is not None
    assert len(refused) == 1
    assert refused[0].startswith(f"{winner.name} has this conversation")
    with turns.tenant.tx():
        assert Escalation.objects.get().claimed_by_id == winner.pk


@pytest.mark.requirement("W03")
def test_a_takeover_claims_a_request_that_was_only_offered(turns: Turns, lucia: User) -> None:
    """The button that is still shown asks nobody else."""
    offer(turns)
    take(turns, lucia)
    with turns.tenant.tx():
        standing = Escalation.objects.get()
    assert (standing.state, standing.claimed_by_id) == (EscalationState.CLAIMED, lucia.pk)


def test_customers_write_and_the_agent_is_silent_after_a_takeover(turns: Turns, lucia: User, api: Client) -> None:
    """`turn` is null, and `?wait` answers at once."""
    take(turns, lucia)
    answer = api.post(
        f"/api/v1/conversations/{turns.conversation.pk}/messages?wait=30", {"content": "Anyone there?"}, **JSON
    )
    assert (answer.status_code, answer.json()["turn"]) == (202, None)
    assert answer.json()["operator"]["name"] == "Lucia Marchetti"
    stream = api.post(
        f"/api/v1/conversations/{turns.conversation.pk}/messages",
        {"content": "Hello?"},
        **JSON,
        headers={"Accept": "text/event-stream"},
    )
    assert (stream.status_code, stream.json()["turn"]) == (202, None)
    turns.run()
    assert agent_says(turns) == []


@pytest.mark.requirement("T11")
def test_facts_told_to_an_operator_are_observed(turns: Turns, lucia: User) -> None:
    """Only the observer reads it; no directives are written, and the agent says nothing."""
    take(turns, lucia)
    with turns.tenant.tx():
        operators.answer(turns.conversation.pk, "Hello, I am Lucia. Your number, please?", by=lucia)
        message = post_message(turns.conversation.pk, "It is +39 347 555 0142.").message
        assert set(Job.objects.values_list("lane", flat=True)) == {"observer"}
    turns.run("observer")
    with turns.tenant.tx():
        field = PersonaField.objects.get(key="phone")
        assert (field.value, field.message_id, field.turn_id) == ("+393475550142", message.pk, None)
        assert Event.objects.filter(idn="message_observed", payload__message=str(message.pk)).exists()
        assert not Turn.objects.exists()


@pytest.mark.requirement("T10")
def test_messages_handed_back_are_observed_once_with_their_turn(turns: Turns, lucia: User) -> None:
    take(turns, lucia)
    with turns.tenant.tx():
        post_message(turns.conversation.pk, "My number is +39 347 555 0142.")
    back(turns, lucia)
    turns.run("observer")
    with turns.tenant.tx():
        assert [job.state for job in Job.objects.filter(lane="observer")] == [State.SKIPPED]


def test_urgent_messages_are_shown_to_the_operator_and_start_no_turn(turns: Turns, lucia: User) -> None:
    """An urgent message, which no later reply tells either."""
    turns.says("Hello.")
    turns.say("Hello")
    take(turns, lucia)
    with turns.tenant.tx():
        assert post_event(turns.conversation, "urgent_message", {"text": "The courier is late."}).turn is None
        assert Event.objects.get(idn="urgent_message").payload["text"] == "The courier is late."
    back(turns, lucia)
    turns.says("Yes?")
    turns.say("One more thing")
    assert "The courier is late." not in turns.asked()[-1]["messages"][-1]["content"]


def test_no_follow_up_fires_while_an_operator_has_the_conversation(turns: Turns, lucia: User) -> None:
    """Also if it expires at the same moment."""
    turns.says("Hello.")
    turns.say("Hello")
    take(turns, lucia)
    assert now(turns).follow_up_at is None
    with turns.tenant.tx():
        Conversation.objects.update(follow_up_at=timezone.now() - timedelta(seconds=1))
    fire_follow_ups()
    assert now(turns).last_turn == 1


def test_no_follow_up_fires_while_the_customer_waits_for_a_person(turns: Turns) -> None:
    """Asking who waits whether they are still there would be the wrong way around."""
    turns.says("Hello.")
    turns.say("Hello")
    offer(turns)
    with turns.tenant.tx():
        Escalation.objects.update(state=EscalationState.WAITING, requested_at=timezone.now())
        Conversation.objects.update(follow_up_at=timezone.now() - timedelta(seconds=1))
    before = now(turns).last_turn
    fire_follow_ups()
    assert now(turns).last_turn == before


def test_a_takeover_ends_a_reply_that_may_no_longer_be_interrupted(turns: Turns, lucia: User) -> None:
    """A fourth interruption by a message is refused, but not one by an operator."""
    with turns.tenant.tx():
        post_message(turns.conversation.pk, "Hello")
        Job.objects.filter(lane="reply").update(state=State.RUNNING, interruptions=3)
    take(turns, lucia)
    with turns.tenant.tx():
        assert Job.objects.get(lane="reply").state == State.SUPERSEDED
        assert Turn.objects.get().status == TurnStatus.SUPERSEDED


def test_a_failed_reply_cannot_be_rerun_during_a_takeover(turns: Turns, lucia: User) -> None:
    with turns.tenant.tx():
        post_message(turns.conversation.pk, "Hello")
        Job.objects.filter(lane="reply").update(state=State.FAILED)
        Turn.objects.update(status=TurnStatus.FAILED)
    take(turns, lucia)
    with turns.tenant.tx(), pytest.raises(WrongState, match="A teammate has taken over this conversation"):
        run_again(turns.tenant.project, Job.objects.get(lane="reply").pk)


def test_a_tool_of_an_earlier_reply_cannot_end_an_operators_conversation(turns: Turns, lucia: User) -> None:
    take(turns, lucia)
    with turns.tenant.tx(), open_log(turns.conversation.pk) as log:
        assert not apply_signal(log, Signal.END, turn_id=None, result={})
    assert now(turns).status == ConversationStatus.OPEN


def test_after_a_hand_back_the_agent_answers_the_unanswered_messages(turns: Turns, lucia: User) -> None:
    """One reply to the messages since the operator's last one."""
    take(turns, lucia)
    with turns.tenant.tx():
        operators.answer(turns.conversation.pk, "I'm Lucia, one moment.", by=lucia)
    with turns.tenant.tx():
        post_message(turns.conversation.pk, "Is there parking?")
        post_message(turns.conversation.pk, "And a garden?")
    turn = back(turns, lucia)
    turns.says("Both.")
    turns.run()
    assert turn is not None
    assert agent_says(turns) == ["Both."]
    prompt = turns.asked()[-1]["messages"][-1]["content"]
    assert prompt.index("I'm Lucia, one moment.") < prompt.index("Is there parking?") < prompt.index("And a garden?")


def test_an_aborted_reply_continues_as_the_one_after_the_hand_back(turns: Turns, lucia: User) -> None:
    """A client waiting for the first turn reads the second."""
    with turns.tenant.tx():
        first = post_message(turns.conversation.pk, "Is there parking?").turn
    take(turns, lucia)
    turn = back(turns, lucia)
    turns.says("There is.")
    turns.run()
    assert turn is not None
    assert first is not None
    assert turns.now(first).superseded_by_id == turn.pk
    assert agent_says(turns) == ["There is."]


def test_an_operators_messages_show_the_first_name(turns: Turns, lucia: User, api: Client) -> None:
    take(turns, lucia)
    with turns.tenant.tx():
        operators.answer(turns.conversation.pk, "Good evening.", by=lucia)
    rows = api.get(f"/api/v1/conversations/{turns.conversation.pk}/messages").json()["results"]
    assert [(row["role"], row.get("author"), row["content"]) for row in rows] == [
        ("system", None, "Lucia joined the conversation."),
        ("operator", "Lucia", "Good evening."),
    ]


def test_only_the_operator_answers_and_hands_back(turns: Turns, lucia: User) -> None:
    with turns.tenant.tx(), pytest.raises(WrongState, match="Take over the conversation"):
        operators.answer(turns.conversation.pk, "Hello", by=lucia)
    with pytest.raises(WrongState, match="No colleague has this conversation"):
        back(turns, lucia)
    take(turns, turns.tenant.owner)
    with turns.tenant.tx(), pytest.raises(WrongState, match="has this conversation"):
        operators.answer(turns.conversation.pk, "Hello", by=lucia)
    with pytest.raises(WrongState, match="has this conversation"):
        back(turns, lucia)
    back(turns, lucia, is_forced=True)
    assert now(turns).operator_id is None


@pytest.mark.requirement("W03")
@pytest.mark.parametrize("role", [None, Role.VIEWER], ids=["removed", "viewer"])
def test_an_operator_who_leaves_releases_the_conversation(turns: Turns, lucia: User, role: Role | None) -> None:
    """The agent answers pending messages, and requests for a person wait again."""
    ask(turns, offer(turns)["escalation"], email="a@b.example")
    take(turns, lucia)
    with turns.tenant.tx():
        post_message(turns.conversation.pk, "Hello?")
    with turns.tenant.tx():
        member, by = Member.objects.get(user=lucia), Actor(turns.tenant.owner, Role.OWNER)
        if role is None:
            remove_member(member, by=by)
        else:
            set_role(member, role=role, by=by)
    turns.says("I'm here.")
    turns.run()
    assert now(turns).operator_id is None
    assert agent_says(turns)[-1] == "I'm here."
    with turns.tenant.tx():
        assert Escalation.objects.get().state == EscalationState.WAITING
        with pytest.raises(WrongState, match="operator role"):
            operators.take_over(turns.conversation.pk, by=lucia)


@pytest.mark.requirement("W03")
def test_a_call_is_claimed_and_called_back(turns: Turns, lucia: User) -> None:
    """Nobody types into a call."""
    call = turns.on("phone", phone="+393471234567")
    call.calls_tool("escalate_to_human", {"reason": "The wedding"})
    call.says("I've asked a colleague.")
    call.say("A person, please")
    with pytest.raises(WrongState, match="be taken over"):
        take(call, lucia)
    with call.tenant.tx():
        operators.claim_request(call.conversation.pk, by=lucia)
        assert Escalation.objects.get().state == EscalationState.CLAIMED
    with call.tenant.tx(), pytest.raises(WrongState, match="Lucia Marchetti has claimed"):
        operators.claim_request(call.conversation.pk, by=call.tenant.owner)
    with call.tenant.tx():
        operators.resolve_request(call.conversation.pk, by=lucia)
        assert Escalation.objects.get().state == EscalationState.RESOLVED
        assert not Message.objects.filter(role=MessageRole.SYSTEM).exists()


def test_the_api_takes_over_answers_and_hands_back(turns: Turns, api: Client, stranger) -> None:
    """A key without a creator acts as the first owner; another tenant's key finds nothing."""
    url = f"/api/v1/conversations/{turns.conversation.pk}"
    taken = api.post(f"{url}/take-over", **JSON)
    assert taken.status_code == 200
    assert taken.json()["operator"]["name"] == turns.tenant.owner.name
    said = api.post(f"{url}/operator-messages", {"content": "Good evening."}, **JSON)
    assert (said.status_code, said.json()["role"], said.json()["author"]) == (201, "operator", "A colleague")
    back = api.post(f"{url}/hand-back", **JSON)
    assert back.status_code == 200
    assert (back.json()["operator"], back.json()["turn"]) == (None, None)
    assert api.post(f"{url}/hand-back", **JSON).status_code == 409
    assert Client(headers=stranger.headers).post(f"{url}/take-over", **JSON).status_code == 404
