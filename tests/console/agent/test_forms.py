"""The settings forms: saved as a version, or refused at the field."""

from __future__ import annotations

import json

import pytest

from console.agent.sections import SECTIONS
from projects.models import User
from tests.conftest import Tenant
from tests.console.agent.conftest import Settings
from tests.console.agent.controls import controls_of


@pytest.mark.parametrize("section", [section.slug for section in SECTIONS])
def test_posting_an_unchanged_form_changes_nothing(section: str, owner: Settings) -> None:
    """Works without JavaScript: every entry is an input on the page."""
    before = owner.document
    assert owner.change(section).status_code == 302
    assert (owner.document, len(owner.versions)) == (before, 1)


def test_a_save_creates_a_version_with_author_and_changes(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    newest = owner.versions[0]
    assert (newest.number, newest.author, newest.document["agent_name"]) == (2, owner.tenant.owner, "Bruno")
    assert newest.note == "Agent’s name"


def test_a_note_appears_in_the_history(owner: Settings) -> None:
    owner.change(agent_name="Bruno", note="Nello left")
    assert owner.versions[0].note == "Nello left"


def test_a_save_reaches_customers_only_once_it_is_published(owner: Settings) -> None:
    before = owner.live.config.style
    owner.change(style="Terse.")
    assert (owner.live.config.style, owner.document["style"]) == (before, "Terse.")
    owner.publish()
    assert owner.live.config.style == "Terse."


def test_entries_keep_the_order_of_the_form(owner: Settings) -> None:
    """Scripts move an entry's fields without renaming them."""
    form = owner.form("procedures")
    moved = sorted(form.items(), key=lambda field: ".0." in field[0])
    owner.save(dict(moved), "procedures")
    titles = [procedure["title"] for procedure in owner.document["procedures"]]
    assert titles == ["Running late", "Deposits", "Asking for a person", "Allergies"]


def test_the_scope_of_each_observed_field_can_be_chosen(owner: Settings) -> None:
    owner.change("fields", observer_fields__0__scope="customer", observer_fields__3__scope="conversation")
    scopes = {field["key"]: field["scope"] for field in owner.document["observer_fields"]}
    assert (scopes["date"], scopes["time"], scopes["diet"]) == ("customer", "conversation", "conversation")


def test_a_form_can_be_packed_into_one_field(owner: Settings) -> None:
    """Thirty scenarios exceed the number of fields allowed in a request."""
    steps = [[f"scenarios.{i}.steps.{j}.text", f"Step {j}"] for i in range(30) for j in range(20)]
    titles = [[f"scenarios.{i}.title", f"Scenario {i}"] for i in range(30)]
    pairs = [["started_from", "1"], *steps, *titles]
    response = owner.client.post(owner.address("scenarios"), {"entries": json.dumps(pairs)})
    assert response.status_code == 302
    assert len(owner.document["scenarios"]) == 30
    assert owner.document["scenarios"][29]["steps"][19]["text"] == "Step 19"


@pytest.mark.parametrize(
    "junk", ['{"a":1}', "[", "[[1,2]]", '[["scenarios","x"],["scenarios.0.title","y"]]', "[" * 9999]
)
def test_a_malformed_form_is_refused_without_an_error(junk: str, owner: Settings) -> None:
    assert owner.client.post(owner.address("business"), {"entries": junk}).status_code == 422
    assert len(owner.versions) == 1


@pytest.mark.parametrize(
    ("section", "name", "value", "sentence"),
    [
        ("business", "agent_name", "  ", "This field is required"),
        ("business", "business_name", "x" * 200, "Use at most 120 characters. This has 200."),
        ("business", "style", "a\x01", "control character U+0001"),
        ("scenarios", "scenarios.0.steps.1.text", "", "Describe what the agent does in this step"),
        ("scenarios", "scenarios.0.steps.1.tools", "no good", "Enter tool names separated by commas"),
        ("hours", "hours.tue.0.1", "11:00", "The closing time 11:00 is not after the opening time 12:00."),
        ("hours", "hours.tue.0.1", "19:00", "12:00 to 19:00 and 18:30 to 23:00 overlap"),
        ("hours", "hours.tue.0.1", "noon", "Enter a time like 09:30"),
        ("hours", "timezone", "Rome", "Use one like Europe/Rome"),
        ("hours", "region", "XX", "Use two capital letters"),
        ("hours", "holidays.0.date", "2026-02-30", "Enter a date like 2026-12-24"),
        ("behaviour", "follow_up_minutes.text", "soon", "Enter minutes from 0"),
        ("behaviour", "quiet_hours.1", "", "Enter a time like 21:00 in both"),
        ("behaviour", "quiet_hours.1", "21:00", "Enter two different times"),
        ("fields", "observer_fields.0.key", "Party Size", "Use a name like party_size"),
        ("fields", "observer_fields.0.key", "time", "time appears twice"),
        ("fields", "observer_fields.0.key", "phone", "phone always belongs to the customer"),
        ("models", "model_base_url", "http://10.0.0.1/v1", "inside a private network (10.0.0.1). Use a public URL"),
    ],
)
def test_invalid_values_are_refused_at_their_field(
    section: str, name: str, value: str, sentence: str, owner: Settings
) -> None:
    response = owner.save({**owner.form(section), name: value}, section)
    assert response.status_code == 422
    assert sentence in response.content.decode().replace("&#x27;", "'")
    assert len(owner.versions) == 1


@pytest.mark.parametrize("name", ["", "x" * 200])
def test_a_model_without_a_usable_name_is_refused(name: str, owner: Settings) -> None:
    response = owner.change("models", models__reply__use="own", models__reply__name=name)
    assert response.status_code == 422
    assert 'aria-invalid="true" aria-describedby="models-reply-error"' in response.content.decode()


def test_a_refused_form_keeps_its_input(owner: Settings) -> None:
    response = owner.change(agent_name="", style="Like a sailor.", note="As he asked")
    assert {"Like a sailor.", "As he asked"} <= set(controls_of(response.content.decode()).values())


def test_empty_opening_hours_are_refused(owner: Settings) -> None:
    """They would mean never open; “always open” is a separate choice."""
    form = {name: "" if name.startswith("hours.") else value for name, value in owner.form("hours").items()}
    response = owner.save(form, "hours")
    assert "Enter hours for at least one day" in response.content.decode()
    assert owner.save(form, "hours", open="always").status_code == 302
    assert owner.document["hours"] == {}


def test_viewers_see_settings_read_only(owner: Settings, viewer: User, tenant: Tenant) -> None:
    form, reader = owner.form(), Settings(tenant, viewer)
    assert "<fieldset disabled>" in reader.page()
    assert reader.save(form, agent_name="Mallory").status_code == 403
    assert len(owner.versions) == 1


@pytest.mark.parametrize("section", ["business", "models", "attributes", "history"])
def test_other_tenants_cannot_change_settings(section: str, owner: Settings, stranger: Tenant) -> None:
    theirs = Settings(owner.tenant, stranger.owner)
    response = theirs.client.post(owner.address(section), {"agent_name": "Mallory", "restore": "1"})
    assert response.status_code == 404
    assert len(owner.versions) == 1
