"""The business templates: complete, plausible, and renamed to the business."""

from __future__ import annotations

import pytest

from projects.agents.templates_catalogue import (
    BUSINESS,
    NAMES,
    OTHER,
    Locale,
    are_example_hours,
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
with_examples = pytest.mark.parametrize("name", [name for name in NAMES if name != OTHER])
HERE = Locale(timezone="Europe/Rome", region="IT")


def config_of(name: str) -> AgentConfig:
    return business_templates()[name].config_for("Da Nello", locale=HERE)


@by_name
def test_no_name_placeholder_remains(name: str) -> None:
    document = config_of(name).model_dump_json()
    assert "Da Nello" in document
    assert BUSINESS not in document


@with_examples
def test_a_template_is_complete(name: str) -> None:
    config = config_of(name)
    parts = (config.scenarios, config.procedures, config.intents, config.hours, config.observer_fields, config.openers)
    assert all(parts)
    assert len(config.openers) >= 3


def test_the_empty_template_works_and_invents_nothing() -> None:
    config = business_templates()[OTHER].config_for("Da Nello", locale=HERE, about="We repair bicycles.")
    assert (config.business_context, config.hours) == ("We repair bicycles.", {})
    assert all((config.scenarios, config.intents, config.openers))
    assert business_templates()[OTHER].made_up == ()


def test_a_business_that_is_always_open_has_no_example_hours(database: None) -> None:
    owner = User.objects.create_user("a@b.example")
    project = start_business("Da Nello", starter=business_templates()[OTHER], owner=owner, locale=HERE, about="Bikes.")
    with tenant_tx(project.organization_id):
        assert not are_example_hours(project, {})


@by_name
def test_a_name_may_contain_json_and_template_syntax(name: str) -> None:
    business = 'Bar "{{ x }}" {business} \\ <b>'
    assert business_templates()[name].config_for(business, locale=HERE).business_name == business


@by_name
def test_a_template_lists_its_example_facts(name: str) -> None:
    """Every line with an address, number, e-mail or price contains a listed example fact."""
    starter = business_templates()[name]
    context = starter.config["business_context"]
    assert [fact for fact in starter.made_up if fact not in context] == []
    telling = [line for line in context.splitlines() if line.startswith("Address") or set(line) & set("+@$")]
    assert [line for line in telling if not any(fact in line for fact in starter.made_up)] == []


@with_examples
def test_every_remaining_example_fact_is_reported(name: str) -> None:
    made_up = business_templates()[name].made_up
    assert leftover_examples(f"Da Nello, since 1974.\r\nWhere:  {made_up[0].upper()} , round the corner") == [
        made_up[0]
    ]
    assert leftover_examples(config_of(name).business_context) == list(made_up)
    assert leftover_examples("Da Nello. Via dei Serpenti 14, Roma. Carbonara: € 14") == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("restaurant", "bookings"),
        ("clinic", "healthcare"),
        ("shop", "ecommerce"),
        ("agency", "generic"),
        ("other", "generic"),
    ],
)
def test_a_template_sets_its_vertical(name: str, kind: str) -> None:
    assert config_of(name).vertical == kind


@by_name
def test_a_business_starts_with_its_templates_attributes(name: str, database: None) -> None:
    starter = business_templates()[name]
    project = start_business("Da Nello", starter=starter, owner=User.objects.create_user("a@b.example"), locale=HERE)
    with tenant_tx(project.organization_id):
        found = {key: one.value for key, one in resolve_attributes(project).items()}
    assert found == starter.attributes


@by_name
def test_tools_in_template_steps_are_enabled(name: str, database: None) -> None:
    owner = User.objects.create_user("a@b.example")
    project = start_business("Da Nello", starter=business_templates()[name], owner=owner, locale=HERE)
    with tenant_tx(project.organization_id):
        state = read_state(project, channel="chat")
    promised = {tool for scenario in config_of(name).scenarios for step in scenario.steps for tool in step.tools}
    assert {tool: why_not(builtin_tools()[tool], state) for tool in promised} == dict.fromkeys(promised, "")
