"""Scopes of fields: what is of a visit stays with its conversation, and what is of the customer shows its age."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from conversations.models import PersonaField
from conversations.models.persona import Strength
from conversations.turns.services import give_fields
from projects.agents.templates_catalogue import Locale, business_templates
from projects.models.agent_config import AgentConfig
from tests.conversations.memory.conftest import VISIT, exchange, last_prompt, later, rows, section
from tests.conversations.pipeline.conftest import configure
from tests.conversations.promises.conftest import Desk
from tests.offline_model.prompts import DEMO


@pytest.fixture
def desk(desk: Desk) -> Desk:
    configure(desk.tenant, observer_fields=VISIT, timezone="UTC")
    return desk


def customer(desk: Desk, *, skill: str = "reply", tag: str = "Customer") -> list[str]:
    return section(last_prompt(desk.model, skill), tag).splitlines()


def known_before(desk: Desk, *, days: int) -> None:
    """Date everything known about customers back."""
    with desk.tenant.tx():
        PersonaField.objects.update(updated_at=timezone.now() - timedelta(days=days))


@pytest.mark.parametrize(
    ("skill", "tag"), [("reply", "Customer"), ("thoughts", "KnownFacts"), ("observer", "KnownFacts")]
)
def test_a_new_conversation_starts_without_the_last_visits_date_and_time(skill: str, tag: str, desk: Desk) -> None:
    exchange(desk, "Dinner on Friday at 8, I'm vegan", date="Friday", time="8", diet="vegan")
    exchange(later(desk), "Do you have a table for lunch?")
    assert customer(desk, skill=skill, tag=tag) == ["diet: vegan"]


def test_a_field_of_the_conversation_is_known_in_its_next_turn(desk: Desk) -> None:
    exchange(desk, "Dinner on Friday", date="Friday")
    exchange(desk, "At 8, please", time="8")
    exchange(desk, "Thank you")
    assert customer(desk) == ["date: Friday", "time: 8"]


def test_each_conversation_keeps_its_own_value(desk: Desk) -> None:
    exchange(desk, "Friday", date="Friday")
    other = later(desk)
    exchange(other, "Sunday", date="Sunday")
    assert {(row["conversation_id"], row["value"]) for row in rows(desk)} == {
        (desk.talk.conversation.pk, "Friday"),
        (other.talk.conversation.pk, "Sunday"),
    }


def test_a_value_learned_before_the_field_was_of_the_conversation_is_not_used(desk: Desk) -> None:
    """The customer's old row stays, and no prompt shows it."""
    configure(desk.tenant, observer_fields=[{**field, "scope": "customer"} for field in VISIT])
    exchange(desk, "Friday", date="Friday")
    configure(desk.tenant, observer_fields=VISIT, timezone="UTC")
    exchange(later(desk), "Lunch, please")
    assert customer(desk) == []


def test_a_value_that_the_api_gave_the_customer_holds_until_they_say_another(desk: Desk) -> None:
    with desk.tenant.tx():
        give_fields(desk.talk.reload().persona, {"guests": "6"})
    exchange(desk, "Hello")
    assert customer(desk) == ["guests: 6"]
    exchange(desk, "Only 2 of us today", guests="2")
    exchange(desk, "Thank you")
    assert customer(desk) == ["guests: 2"]


def test_the_conversation_shows_its_own_fields_and_the_persona_the_customers(desk: Desk, api: Client) -> None:
    exchange(desk, "Friday, vegan", date="Friday", diet="vegan")
    shown = api.get(f"/api/v1/conversations/{desk.talk.conversation.pk}").json()
    assert (shown["fields"], shown["persona"]["attributes"]) == ({"date": "Friday"}, {"diet": "vegan"})
    [listed] = api.get("/api/v1/conversations").json()["results"]
    assert listed["fields"] == {"date": "Friday"}
    assert api.get(f"/api/v1/personas/{shown['persona']['id']}").json()["attributes"] == {"diet": "vegan"}


@pytest.mark.parametrize("key", ["phone", "language", "sms_opt_in"])
def test_a_standard_field_always_belongs_to_the_customer(key: str) -> None:
    with pytest.raises(ValueError, match="always belongs to the customer"):
        AgentConfig.model_validate(
            {
                "agent_name": "A",
                "business_name": "B",
                "observer_fields": [{"key": key, "description": "x", "scope": "conversation"}],
            }
        )


def test_a_field_without_a_scope_belongs_to_the_customer() -> None:
    config = AgentConfig(agent_name="A", business_name="B", observer_fields=[{"key": "seat", "description": "x"}])
    assert config.conversation_fields == frozenset()


SHIPPED = [
    AgentConfig.model_validate({key: value for key, value in DEMO.items() if key in AgentConfig.model_fields}),
    *(one.config_for("Bella", locale=Locale("Europe/Rome", "IT")) for one in business_templates().values()),
]


@pytest.mark.parametrize("config", SHIPPED)
def test_the_demo_and_every_template_keep_a_visit_with_its_conversation(config: AgentConfig) -> None:
    visit = {"date", "time", "party_size", "order_number", "deadline"} & {field.key for field in config.observer_fields}
    assert visit
    assert visit <= config.conversation_fields


@pytest.mark.parametrize(("skill", "tag"), [("reply", "Customer"), ("thoughts", "KnownFacts")])
def test_a_fact_older_than_the_conversation_shows_its_age(skill: str, tag: str, desk: Desk) -> None:
    exchange(desk, "I'm vegan", diet="vegan")
    known_before(desk, days=40)
    exchange(later(desk), "Hello")
    learned = timezone.now() - timedelta(days=40)
    assert customer(desk, skill=skill, tag=tag) == [f"diet: vegan (known since {learned.day} {learned:%B})"]


def test_a_fact_of_another_year_shows_the_year(desk: Desk) -> None:
    exchange(desk, "I'm vegan", diet="vegan")
    known_before(desk, days=800)
    exchange(later(desk), "Hello")
    assert str((timezone.now() - timedelta(days=800)).year) in customer(desk)[0]


def test_a_fact_of_this_conversation_shows_no_age(desk: Desk) -> None:
    exchange(desk, "I'm vegan", diet="vegan")
    exchange(desk, "Hello")
    assert customer(desk) == ["diet: vegan"]


def test_a_fact_confirmed_with_another_value_loses_its_age(desk: Desk) -> None:
    exchange(desk, "I'm vegan", diet="vegan")
    known_before(desk, days=40)
    other = later(desk)
    exchange(other, "I eat fish again, but no meat", diet="no meat")
    exchange(other, "Hello")
    assert customer(desk) == ["diet: no meat"]


def test_two_values_of_one_field_of_the_customer_are_refused_by_the_database(desk: Desk) -> None:
    """Null conversations count as equal."""
    with pytest.raises(Exception, match="one_field_per_scope"), desk.tenant.tx():
        for value in ("a", "b"):
            PersonaField.objects.create(
                persona=desk.talk.reload().persona, key="seat", value=value, strength=Strength.STATED
            )
