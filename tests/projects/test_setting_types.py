"""An agent's settings take no value of another JSON type."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from projects.models.agent_config import AgentConfig
from projects.models.agent_errors import SettingsRefused, checked_config
from tools.engine.definition import WebhookOptions

NAMES = {"agent_name": "Anna", "business_name": "Nello"}


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("truthful_status", "true", "truthful_status"),
        ("truthful_status", 1, "truthful_status"),
        ("knowledge_in_prompt", "yes", "knowledge_in_prompt"),
        ("knowledge_in_prompt", 0.0, "knowledge_in_prompt"),
        ("follow_up_limit", "3", "follow_up_limit"),
        ("follow_up_limit", True, "follow_up_limit"),
        ("follow_up_limit", 1.0, "follow_up_limit"),
        ("follow_up_minutes", {"text": "5"}, "follow_up_minutes.text"),
        ("follow_up_minutes", {"text": True}, "follow_up_minutes.text"),
        ("holidays", [0], "holidays.0"),
        ("holidays", ["1766534400"], "holidays.0"),
        ("holidays", ["2026-12-24T00:00:00"], "holidays.0"),
        ("agent_name", 5, "agent_name"),
    ],
)
def test_a_value_of_another_type_is_refused_by_path(field: str, value: Any, path: str) -> None:
    with pytest.raises(SettingsRefused) as refused:
        checked_config({**NAMES, field: value})
    assert [*refused.value.errors] == [path]


def test_a_text_for_a_flag_gets_a_sentence() -> None:
    with pytest.raises(SettingsRefused, match="truthful_status: Write true or false"):
        checked_config({**NAMES, "truthful_status": "true"})


def test_a_whole_number_is_a_number() -> None:
    assert checked_config({**NAMES, "follow_up_minutes": {"text": 5}}).follow_up_minutes == {"text": 5.0}


def test_stored_settings_are_read_again() -> None:
    config = AgentConfig(**NAMES, holidays=["2026-12-24"], follow_up_minutes={"text": 0.5})  # type: ignore[arg-type, list-item]
    assert checked_config(config.model_dump(mode="json")) == config


@pytest.mark.parametrize(
    ("field", "value"),
    [("timeout_seconds", "5"), ("wait_seconds", True), ("callback", "true"), ("callback", 1)],
)
def test_a_webhooks_options_convert_nothing(field: str, value: Any) -> None:
    """The check of definitions refuses them before, with a sentence."""
    with pytest.raises(ValidationError) as refused:
        WebhookOptions.model_validate({"url": "https://shop.example/", field: value})
    assert [error["loc"] for error in refused.value.errors()] == [(field,)]
