"""The prompt budget: size of settings and tool definitions, warnings and refusals."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from projects.agents.prompt_budget import prompt_budget, size_advice
from projects.agents.prompt_size import PromptSize, measure_prompt
from projects.agents.services import save_agent
from projects.models.agent_config import AgentConfig
from tests.console.agent.conftest import Settings
from tests.console.agent.controls import controls_of
from tools.engine.definition import Trigger
from tools.engine.function_calling.offer import read_offer

KIND = {"rules": 1_500, "business_context": 0, "scenarios": 0, "procedures": 0, "intents": 0, "tools": 0}


def weight_of(settings: Settings, **changes: Any) -> PromptSize:
    """The budget of the saved settings with changes."""
    with settings.tenant.tx():
        settings.tenant.project.refresh_from_db()
        return measure_prompt(settings.tenant.project, AgentConfig.model_validate({**settings.document, **changes}))


def put(settings: Settings, **changes: Any) -> None:
    """Settings written directly, bypassing validation."""
    with settings.tenant.tx():
        config = AgentConfig.model_validate({**settings.document, **changes})
        save_agent(settings.tenant.project, config=config, author=None)


def words(settings: Settings, *, room: int) -> str:
    """A business context that leaves the given budget for the conversation."""
    without = weight_of(settings, business_context="")
    return "x" * (without.room - room)


def weight(**parts: int) -> PromptSize:
    return PromptSize({**KIND, **parts}, channel="chat", limit=25_000, reserve=4_000)


def test_tool_definitions_count_toward_the_prompt(owner: Settings) -> None:
    """Tool definitions are part of every request."""
    everything, none = weight_of(owner), weight_of(owner, enabled_tools=[])
    with owner.tenant.tx():
        offer = read_offer(Trigger.TURN, owner.tenant.project, channel=everything.channel)
    assert everything.parts["tools"] > offer.weight > 1_000
    tools = everything.parts["tools"] - none.parts["tools"]
    assert everything.total - none.total == pytest.approx(tools, abs=200)
    assert none.parts["tools"] < offer.weight / 4


def test_the_page_shows_the_remaining_prompt_budget(owner: Settings) -> None:
    budget = prompt_budget(weight_of(owner))
    for section in ("business", "scenarios", "procedures", "intents"):
        page = owner.page(section)
        assert f'<p class="ag-kb">{budget.total} <small>of 25 kB' in page
        assert f'<dd class="tn text-end ag-left">{budget.room}</dd>' in page
        assert "Prompt too large" not in page


def test_a_small_budget_warns_at_the_largest_field(owner: Settings) -> None:
    put(owner, scenarios=[])
    put(owner, business_context=words(owner, room=2_050))
    page = owner.page()
    assert 'aria-describedby="business_context-too-large"' in page
    assert (
        page.count(
            "leaving 2.0 kB for the conversation. The conversation needs 4 kB. Shorten the business context by 2.0 kB."
        )
        == 2
    )
    assert 'id="procedures-too-large"' not in owner.page("procedures")


def test_settings_with_a_small_budget_are_saved(owner: Settings) -> None:
    """Only a warning: the agent still answers, with a shorter memory."""
    put(owner, scenarios=[])
    assert owner.change(business_context=words(owner, room=50)).status_code == 302


def test_settings_without_budget_are_refused_and_keep_their_input(owner: Settings) -> None:
    put(owner, scenarios=[])
    before = len(owner.versions)
    typed = words(owner, room=0)
    response = owner.change(business_context=typed, note="Details")
    page = response.content.decode()
    assert response.status_code == 422
    assert 'aria-invalid="true" aria-describedby="business_context-error"' in page
    assert (
        "leaving 0.0 kB for the conversation. The conversation needs 4 kB. Shorten the business context by 4.0 kB."
        in page
    )
    assert {typed, "Details"} <= set(controls_of(page).values())
    assert len(owner.versions) == before


def test_a_refusal_appears_on_the_saved_page_and_names_the_largest_field(owner: Settings) -> None:
    put(owner, scenarios=[])
    put(owner, business_context=words(owner, room=100))
    form = {f"procedures.{at}.{name}": "y" * 80 for at in range(4) for name in ("title", "text")}
    response = owner.save({**owner.form("procedures"), **form}, "procedures")
    page = response.content.decode()
    assert response.status_code == 422
    assert 'id="procedures-error"' in page
    assert "the business context " in page
    assert "Shorten the business context or the procedures by " in page


def test_a_tool_without_budget_is_not_switched_on(owner: Settings) -> None:
    put(owner, enabled_tools=[], procedures=[{"title": "Deposits", "text": "y" * 2_000}] * 3)
    put(owner, business_context=words(owner, room=100))
    address = reverse("ability", args=[owner.tenant.project.slug, "bookings"])
    page = owner.client.post(address, {"trigger": "reply", "value": "on"}, follow=True).content.decode()
    assert "Requests are limited to 25 kB" in page
    assert owner.document["enabled_tools"] == []


def test_oversized_settings_may_shrink_step_by_step(owner: Settings) -> None:
    """Each shrinking step is accepted."""
    put(owner, business_context=words(owner, room=-500))
    assert owner.change(business_context=words(owner, room=-300)).status_code == 302
    assert owner.change(business_context=words(owner, room=-400)).status_code == 422


def test_an_oversized_version_is_not_restored(owner: Settings) -> None:
    put(owner, business_context=words(owner, room=-500))
    put(owner, business_context="Short.")
    number = owner.versions[1].number
    owner.client.post(owner.address("history"), {"restore": str(number), "started_from": str(number + 1)})
    assert owner.document["business_context"] == "Short."


@pytest.mark.parametrize(
    ("parts", "among", "field", "sentence"),
    [
        (
            {"business_context": 14_200, "scenarios": 6_000},
            (),
            "business_context",
            "Requests are limited to 25 kB: the business context 14.2 kB, leaving 3.3 kB for the conversation."
            " The conversation needs 4 kB. Shorten the business context by 0.7 kB.",
        ),
        (
            {"business_context": 14_200, "scenarios": 6_000, "tools": 4_000},
            ("scenarios",),
            "scenarios",
            "Requests are limited to 25 kB: the business context 14.2 kB, the scenarios 6.0 kB, leaving 0.0 kB"
            " for the conversation. The conversation needs 4 kB. Shorten the business context or the scenarios by 4.7 kB.",
        ),
        (
            {"scenarios": 9_000, "procedures": 8_500, "intents": 8_000},
            (),
            "scenarios",
            "Requests are limited to 25 kB: the scenarios 9.0 kB, leaving 0.0 kB for the conversation."
            " The conversation needs 4 kB. Shorten the settings by 6.0 kB.",
        ),
        ({"tools": 23_000}, ("agent_name",), "enabled_tools", "the tools 23.0 kB"),
    ],
    ids=["too little", "on another page", "all of it", "nowhere else"],
)
def test_the_message_names_the_largest_field_and_the_needed_cut(
    parts: dict[str, int], among: tuple[str, ...], field: str, sentence: str
) -> None:
    [(found, said)] = size_advice(weight(**parts), among=among).items()
    assert found == field
    assert sentence in said
