"""Extraction of open tasks when a conversation ends, by the project's todo types."""

from __future__ import annotations

import pytest

from conversations.turns.conversation_end import close_silent_conversations
from conversations.turns.services import give_fields, post_message
from tests.concurrent import meanwhile
from tests.todos.sources.conftest import (
    CHEF,
    LUCIA,
    MAIL,
    PROMISE,
    SMS,
    TEAM,
    Desk,
    conversation,
    end,
    events,
    finds,
    jobs,
    look_through,
    no_types,
    silent,
    todos,
)
from todos.models import Todo, TodoSource, TodoStatus, TodoType
from todos.services import edit_todo, make_todo, reject_todo
from todos.sources.extraction import Source, store_findings
from todos.sources.extraction_prompt import Finding

MENU = "I'll e-mail you the banquet menu tonight"
ASKED = "Could you e-mail me the banquet menu? Copy it to events@acme.example please."


def talked(desk: Desk, reply: str = f"{MENU}.", hears: str = ASKED) -> None:
    """One exchange in which no tool was used."""
    desk.reads()
    desk.analyse(reply, hears=hears)


def test_a_finding_becomes_a_todo_of_its_type(desk: Desk) -> None:
    talked(desk)
    finds(desk, {"quote": MENU, "description": "E-mail the banquet menu."})
    [todo] = look_through(desk)
    assert (todo.source, todo.status) == (TodoSource.EXTRACTION, TodoStatus.PENDING_REVIEW)
    assert (todo.type.name, todo.description, todo.quote) == (MAIL, "E-mail the banquet menu.", MENU)
    assert todo.conversation_id == desk.talk.conversation.pk
    assert todo.persona_id == desk.talk.conversation.persona_id
    assert events(desk, "todos_extracted") == [{"todos": [str(todo.pk)]}]


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("E-mail Ann the menu", "E-mail Ann the menu"),
        ("", "E-mail the banquet menu"),
        ("x" * 61, "E-mail the banquet menu"),
    ],
    ids=["given", "missing", "too long"],
)
def test_a_todo_has_a_title_of_at_most_60_characters(desk: Desk, given: str, title: str) -> None:
    talked(desk)
    finds(desk, {"quote": MENU, "description": "E-mail the banquet menu.", "title": given})
    [todo] = look_through(desk)
    assert todo.heading == title


def test_the_prompt_contains_types_customer_and_transcript(desk: Desk) -> None:
    talked(desk)
    with desk.tenant.tx():
        give_fields(desk.talk.conversation.persona, {"name": "Ann Lee"})
        TodoType.objects.create(project=desk.tenant.project, name="Hidden", description="x", is_extracted=False)
    look_through(desk)
    [request] = desk.model.requests("extract")
    prompt = str(request["messages"])
    assert all(part in prompt for part in (f"## {MAIL}", "name: Ann Lee", f"agent: {MENU}.", "customer: Could you"))
    assert "Hidden" not in prompt


def test_without_types_no_model_is_called(desk: Desk) -> None:
    talked(desk)
    no_types(desk)
    assert look_through(desk) == []
    assert (jobs(desk, "extraction"), desk.model.requests("extract")) == ([], [])


@pytest.mark.parametrize(
    "finding",
    [
        {"quote": "I'll refund you everything"},
        {"quote": MENU, "type": "No such type"},
        {"quote": "menu"},
        {"quote": ""},
    ],
    ids=["words that nobody said", "a type that isn't there", "too few words", "no words"],
)
def test_an_invalid_finding_is_dropped(desk: Desk, finding: dict[str, str]) -> None:
    talked(desk)
    finds(desk, finding)
    assert look_through(desk) == []


def test_a_promise_served_by_a_tool_is_no_todo(desk: Desk) -> None:
    desk.reads(SMS)
    desk.analyse(PROMISE)
    finds(desk, {"quote": PROMISE})
    assert look_through(desk) == []


def test_repeated_findings_of_one_matter_make_one_todo(desk: Desk) -> None:
    talked(desk)
    finds(desk, {"quote": MENU}, {"quote": f"{MENU}."}, {"quote": "I'll e-mail you the banquet menu"})
    assert len(look_through(desk)) == 1


@pytest.mark.requirement("L11")
def test_only_addresses_from_the_conversation_are_proposed(desk: Desk) -> None:
    talked(desk)
    finds(desk, {"quote": MENU, "recipients": ["events@acme.example", "mallory@evil.example"]})
    [todo] = look_through(desk)
    assert todo.recipients == ["events@acme.example"]


def test_a_continued_conversation_is_searched_again_without_duplicates(desk: Desk) -> None:
    talked(desk)
    finds(desk, {"quote": MENU})
    [first] = look_through(desk)
    with desk.tenant.tx():
        reject_todo(first.pk, actor=LUCIA)
    talked(desk, reply=f"{CHEF['quote']}.", hears="And the ragù?")
    finds(desk, {"quote": MENU}, {"quote": CHEF["quote"], "type": TEAM})
    assert [todo.quote for todo in look_through(desk)] == [MENU, CHEF["quote"]]


def test_an_end_without_new_messages_is_not_searched_again(desk: Desk) -> None:
    talked(desk)
    look_through(desk)
    end(desk)
    assert jobs(desk, "extraction") == ["done"]


def test_a_silent_conversation_is_searched(desk: Desk) -> None:
    talked(desk)
    silent(desk, minutes=59)
    close_silent_conversations()
    assert jobs(desk, "extraction") == []
    silent(desk, minutes=61)
    before = conversation(desk).updated_at
    close_silent_conversations()
    close_silent_conversations()
    assert jobs(desk, "extraction") == ["queued"]
    # It was looked at, which doesn't make it recent.
    assert conversation(desk).updated_at == before


def test_a_conversation_silent_for_days_is_not_searched(desk: Desk) -> None:
    talked(desk)
    silent(desk, minutes=60 * 25)
    close_silent_conversations()
    assert jobs(desk, "extraction") == []
    assert conversation(desk).extracted_to == conversation(desk).last_message


def test_a_conversation_with_a_pending_follow_up_is_not_searched(desk: Desk) -> None:
    talked(desk)
    silent(desk, minutes=61)
    with desk.tenant.tx():
        type(desk.talk.conversation).objects.update(follow_up_at="2030-01-01T00:00:00Z")
    close_silent_conversations()
    assert jobs(desk, "extraction") == []


def test_messages_after_the_end_wait_for_the_next_end(desk: Desk) -> None:
    talked(desk)
    look_through(desk)
    with desk.tenant.tx():
        post_message(desk.talk.conversation.pk, "One more thing")
    here = conversation(desk)
    assert here.extracted_to < here.last_message


def test_the_offline_model_finds_the_promise_of_the_demo_conversation(desk: Desk) -> None:
    talked(desk)
    [todo] = look_through(desk)
    assert (todo.quote, todo.type.name) == (MENU, MAIL)
    assert todo.recipients == ["events@acme.example"]


def test_the_offline_model_finds_nothing_without_a_promise(desk: Desk) -> None:
    talked(desk, reply="We open at half past six. Would you like me to e-mail you the menu?", hears="When do you open?")
    assert look_through(desk) == []


def test_todos_of_another_tenant_are_not_matched(desk: Desk, stranger) -> None:
    talked(desk)
    finds(desk, {"quote": MENU})
    look_through(desk)
    with stranger.tx():
        assert not Todo.objects.exists()


def test_a_promise_edited_during_the_extraction_is_left_unchanged(desk: Desk) -> None:
    talked(desk, f"{MENU}.")
    with desk.tenant.tx():
        made = make_todo(
            desk.tenant.project,
            description="Somebody has to.",
            source=TodoSource.PROMISE,
            actor=LUCIA,
            conversation_id=desk.talk.conversation.pk,
            quote=MENU,
        )
        talked_of = Source(desk.tenant.project, desk.talk.conversation.pk, desk.talk.conversation.persona_id, MENU)
        types = list(TodoType.objects.all())

    def edit() -> None:
        with desk.tenant.tx():
            edit_todo(made.pk, {"description": "I do it tonight."}, actor=LUCIA, version=None)

    found = Finding(quote=MENU, type=MAIL, description="E-mail the menu.", title="", recipients=[])
    with meanwhile("todos_todo", edit) as edited, desk.tenant.tx():
        store_findings(talked_of, [found], types=types)
    edited[0].result()
    assert [todo.description for todo in todos(desk)] == ["I do it tonight."]


SHORT, LONG = "I'll call you back", "I'll call you back about the cake"


def decided(desk: Desk, quotes: list[str], *findings: dict[str, str], said: str = "") -> dict[str, str]:
    """The description that each promise's todo got, by its first one."""
    talked(desk, f"{'. '.join(quotes)}. {said}")
    with desk.tenant.tx():
        for number, quote in enumerate(quotes, start=1):
            make_todo(
                desk.tenant.project,
                description=f"{number}",
                source=TodoSource.PROMISE,
                actor=LUCIA,
                conversation_id=desk.talk.conversation.pk,
                quote=quote,
            )
    before = {todo.pk: todo.description for todo in todos(desk)}
    finds(desk, *findings)
    return {before.get(todo.pk, "new"): todo.description for todo in look_through(desk)}


@pytest.mark.parametrize("quotes", [[SHORT, LONG], [LONG, SHORT]])
@pytest.mark.parametrize("order", [1, -1])
def test_promises_that_share_words_get_the_findings_of_their_own_words(
    quotes: list[str], order: int, desk: Desk
) -> None:
    findings = [{"quote": quote, "description": f"For: {quote}"} for quote in (SHORT, LONG)][::order]
    found = decided(desk, quotes, *findings)
    assert [found[number] for number in ("1", "2")] == [f"For: {quote}" for quote in quotes]


def test_promises_in_the_same_words_get_their_findings_in_order(desk: Desk) -> None:
    found = decided(desk, [SHORT, SHORT], *({"quote": SHORT, "description": one} for one in ("Today.", "Tomorrow.")))
    assert found == {"1": "Today.", "2": "Tomorrow."}


def test_a_name_that_another_begins_with_is_another_customer(desk: Desk) -> None:
    """“Call Ann” stands in “Call Anna” letter by letter."""
    found = decided(desk, ["I'll call Anna"], {"quote": "I'll call Ann", "description": "Ann."}, said="I'll call Ann.")
    assert found == {"1": "1", "new": "Ann."}
