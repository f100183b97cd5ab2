"""The four templates: whole, plausible, and named after the business."""

from __future__ import annotations

import pytest

from projects.agents.templates_catalogue import (
    BUSINESS,
    NAMES,
    Locale,
    business_templates,
    leftover_examples,
    start_business,
)
from projects.models import User
from projects.models.agent_config import AgentConfig
from projects.records.attributes import resolve_attributes
from tenancy.scope import tenant_tx
from tools.engine.business_state import read_state
from tools.engine.catalogue import why_not
from tools.engine.registry import builtin_tools

by_name = pytest.mark.parametrize("name", NAMES)
HERE = Locale(timezone="Europe/Rome", region="IT")


def config_of(name: str) -> AgentConfig:
    return business_templates()[name].config_for("Da Nello", locale=HERE)


@by_name
def test_no_place_for_the_name_stays_open(name: str) -> None:
    document = config_of(name).model_dump_json()
    assert "Da Nello" in document
    assert BUSINESS not in document


@by_name
def test_a_template_has_everything_that_an_agent_works_with(name: str) -> None:
    config = config_of(name)
    parts = (config.scenarios, config.procedures, config.intents, config.hours, config.observer_fields, config.openers)
    assert all(parts)
    assert len(config.openers) >= 3


@by_name
def test_a_name_may_hold_what_json_and_templates_use(name: str) -> None:
    business = 'Bar "{{ x }}" {business} \\ <b>'
    assert business_templates()[name].config_for(business, locale=HERE).business_name == business


@by_name
def test_a_template_names_what_it_made_up(name: str) -> None:
    """Every line with an address, a number, an e-mail or a price has at least one of the facts that are true of nobody."""
    starter = business_templates()[name]
    context = starter.config["business_context"]
    assert [fact for fact in starter.made_up if fact not in context] == []
    telling = [line for line in context.splitlines() if line.startswith("Address") or set(line) & set("+@$")]
    assert [line for line in telling if not any(fact in line for fact in starter.made_up)] == []


@by_name
def test_each_fact_that_still_stands_is_told_however_much_else_was_written_anew(name: str) -> None:
    made_up = business_templates()[name].made_up
    assert leftover_examples(f"Da Nello, since 1974.\r\nWhere:  {made_up[0].upper()} , round the corner") == [
        made_up[0]
    ]
    assert leftover_examples(config_of(name).business_context) == list(made_up)
    assert leftover_examples("Da Nello. Via dei Serpenti 14, Roma. Carbonara: € 14") == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [("restaurant", "bookings"), ("clinic", "healthcare"), ("shop", "ecommerce"), ("agency", "generic")],
)
def test_a_template_is_of_its_kind_of_business(name: str, kind: str) -> None:
    assert config_of(name).vertical == kind


@by_name
def test_a_business_starts_with_its_templates_switches(name: str, database: None) -> None:
    starter = business_templates()[name]
    project = start_business("Da Nello", starter=starter, owner=User.objects.create_user("a@b.example"), locale=HERE)
    with tenant_tx(project.organization_id):
        found = {key: one.value for key, one in resolve_attributes(project).items()}
    assert found == starter.attributes


@by_name
def test_what_a_step_promises_is_switched_on(name: str, database: None) -> None:
    owner = User.objects.create_user("a@b.example")
    project = start_business("Da Nello", starter=business_templates()[name], owner=owner, locale=HERE)
    with tenant_tx(project.organization_id):
        state = read_state(project, channel="chat")
    promised = {tool for scenario in config_of(name).scenarios for step in scenario.steps for tool in step.tools}
    assert {tool: why_not(builtin_tools()[tool], state) for tool in promised} == dict.fromkeys(promised, "")
