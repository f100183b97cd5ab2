"""Todos whose one call was approved as it stands: no model is asked, and nothing else happens."""

from __future__ import annotations

from tests.todos.executor.conftest import LETTER, Runs


def test_an_approved_e_mail_goes_out_as_it_was_approved(runs: Runs) -> None:
    """L10, L13: to the contact's own address, once, without a model."""
    todo = runs.carry_out(runs.frozen())
    [effect] = runs.effects(todo)
    assert (todo.status, effect.state, effect.origin, effect.adapter) == ("completed", "done", "todo", "outbox")
    assert effect.result["message"] == {**LETTER, "to": "ada@example.com", "name": "Ada Lovelace"}
    assert runs.model.requests("execute") == []
