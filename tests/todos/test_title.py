"""Titles of todos: given, or made from the task."""

from __future__ import annotations

from typing import Any

import pytest

from tests.todos.conftest import Desk
from todos.content.lifecycle import AGENT
from todos.models.title import LONGEST_TITLE, title_from
from todos.services import edit_todo


@pytest.mark.parametrize(
    ("task", "title"),
    [
        ("Call Anna back. She has a nut allergy.", "Call Anna back"),
        ("The agent promised: “I'll ask the chef”. No tool can do this.", "I'll ask the chef"),
        ("Pay\n- Subject:\r\nback", "Pay - Subject: back"),
        ("", ""),
    ],
)
def test_a_title_is_the_quoted_words_or_the_first_sentence(task: str, title: str) -> None:
    assert title_from(task) == title


@pytest.mark.parametrize("task", ["word " * 40, "x" * 200], ids=["words", "one word"])
def test_a_long_task_makes_a_title_of_at_most_60_characters(task: str) -> None:
    title = title_from(task)
    assert title.endswith("…")
    assert len(title) <= LONGEST_TITLE


def test_a_new_task_takes_the_old_title_away(desk: Desk) -> None:
    todo = desk.refund(title="Pay Ada back")
    desk.do(edit_todo, todo.pk, {"description": "Pay Bob back, all of it."}, actor=AGENT, version=None)
    assert desk.now(todo).heading == "Pay Bob back, all of it"


def test_the_api_returns_and_takes_a_title(desk: Desk, api: Any) -> None:
    body = {"description": "Call Anna back. She has a nut allergy.", "title": "Call Anna"}
    made = api.post("/api/v1/todos", body, content_type="application/json").json()
    patched = api.patch(f"/api/v1/todos/{made['id']}", {"title": "Ring Anna"}, content_type="application/json").json()
    assert (made["title"], patched["title"]) == ("Call Anna", "Ring Anna")


def test_the_api_rejects_several_todos_and_names_those_it_left(desk: Desk, api: Any) -> None:
    todos = [desk.refund(description=f"todo {number}") for number in range(2)]
    body = {"todos": [{"todo": str(todo.pk), "version": 1 + at} for at, todo in enumerate(todos)], "reason": "Spam."}
    rejected, left = api.post("/api/v1/todos/reject", body, content_type="application/json").json()["results"]
    assert (rejected["refused"], left["refused"] is None) == (None, False)
    assert [desk.now(todo).status for todo in todos] == ["rejected", "pending_review"]
