"""Todos with one frozen call: no model is called, and nothing else happens."""

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
def test_an_approved_e_mail_is_sent_once_as_approved(runs: Runs) -> None:
    """It goes to the contact's address, without a model."""
    todo = runs.execute(runs.frozen())
    [effect] = runs.effects(todo)
    assert (todo.status, effect.state, effect.origin, effect.adapter) == ("completed", "done", "todo", "smtp")
    assert (effect.result["to"], effect.result["subject"]) == ("ada@example.com", LETTER["subject"])
    assert runs.model.requests("execute") == []


def lose_key(runs: Runs, settings: Any) -> None:
    """Give the project its own model with a key that can't be decrypted."""
    configure(runs.tenant, model_base_url="https://models.example/v1")
    with runs.tenant.tx():
        set_attribute(runs.tenant.project, KEY_ATTRIBUTE, "sk-lost", type=AttributeType.SECRET)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]


def test_a_frozen_todo_needs_no_model_key(runs: Runs, settings: Any) -> None:
    lose_key(runs, settings)
    assert runs.execute(runs.frozen()).status == "completed"


def test_a_todo_without_a_model_key_fails_at_once_and_says_where_to_set_it(runs: Runs, settings: Any) -> None:
    lose_key(runs, settings)
    todo = runs.execute(runs.todo(runs.kind("send_email_to_caller")))
    assert (todo.status, todo.reason) == ("failed", UNREADABLE_KEY)
    assert [job.attempts for job in runs.jobs()] == [1]
