"""Todos whose one call was approved as it stands: no model is asked, and nothing else happens."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.fernet import Fernet

from projects.agents.model_choice import KEY_ATTRIBUTE, UNREADABLE_KEY
from projects.models.attribute import AttributeType
from projects.records.attributes import set_attribute
from tests.conversations.pipeline.conftest import configure
from tests.todos.executor.conftest import LETTER, Runs


@pytest.mark.requirement("L10", "L13")
def test_an_approved_e_mail_goes_out_as_it_was_approved(runs: Runs) -> None:
    """To the contact's own address, once, without a model."""
    todo = runs.execute(runs.frozen())
    [effect] = runs.effects(todo)
    assert (todo.status, effect.state, effect.origin, effect.adapter) == ("completed", "done", "todo", "outbox")
    assert effect.result["message"] == {**LETTER, "to": "ada@example.com", "name": "Ada Lovelace"}
    assert runs.model.requests("execute") == []


def lose_key(runs: Runs, settings: Any) -> None:
    """The project has a model of its own, whose key was encrypted with one that is gone."""
    configure(runs.tenant, model_base_url="https://models.example/v1")
    with runs.tenant.tx():
        set_attribute(runs.tenant.project, KEY_ATTRIBUTE, "sk-lost", type=AttributeType.SECRET)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]


def test_what_asks_no_model_needs_no_key_of_one(runs: Runs, settings: Any) -> None:
    lose_key(runs, settings)
    assert runs.execute(runs.frozen()).status == "completed"


def test_a_todo_that_asks_one_fails_at_once_and_says_where_to_write_the_key(runs: Runs, settings: Any) -> None:
    lose_key(runs, settings)
    todo = runs.execute(runs.todo(runs.kind("send_email_to_caller")))
    assert (todo.status, todo.reason) == ("failed", UNREADABLE_KEY)
    assert [job.attempts for job in runs.jobs()] == [1]
