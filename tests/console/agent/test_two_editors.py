"""Concurrent editing: changes are merged, and conflicts shown to the second editor."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections

from projects.agents.agent_versions import ChangedMeanwhile, Edit, change_agent
from projects.common.merge import merge
from projects.records.attributes import resolve_attributes, set_attribute
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.console.agent.conftest import Settings
from tests.console.agent.controls import controls_of
from todos.content import types
from todos.models import TodoType


@pytest.fixture
def second(owner: Settings) -> Settings:
    """A second client of the same tenant."""
    return Settings(owner.tenant, owner.tenant.owner)


def test_changes_to_different_fields_are_merged(owner: Settings, second: Settings) -> None:
    form = second.form()
    owner.change(agent_name="Bruno")
    assert second.save(form, style="Terse.").status_code == 302
    assert (owner.document["agent_name"], owner.document["style"]) == ("Bruno", "Terse.")


def test_changes_to_different_scenarios_are_merged(owner: Settings, second: Settings) -> None:
    form = second.form("scenarios")
    owner.change("scenarios", scenarios__0__steps__0__text="Ask for the number.")
    second.save(form, "scenarios", scenarios__1__steps__0__text="Read the menu out.")
    texts = [scenario["steps"][0]["text"] for scenario in owner.document["scenarios"][:2]]
    assert texts == ["Ask for the number.", "Read the menu out."]


def test_changes_to_the_same_field_conflict(owner: Settings, second: Settings) -> None:
    form = second.form()
    owner.change(agent_name="Bruno")
    response = second.save(form, agent_name="Carla")
    assert response.status_code == 409
    assert "<del>Bruno</del><ins>Carla</ins>" in response.content.decode()
    assert owner.document["agent_name"] == "Bruno"


def test_saving_again_after_a_conflict_succeeds(owner: Settings, second: Settings) -> None:
    form = second.form()
    owner.change(agent_name="Bruno", style="Terse.")
    shown = controls(second.save(form, agent_name="Carla"))
    assert (shown["agent_name"], shown["style"]) == ("Carla", "Terse.")
    second.save(shown)
    assert [version.document["agent_name"] for version in owner.versions] == ["Carla", "Bruno", "Nello"]


def controls(response: Any) -> dict[str, str]:
    return controls_of(response.content.decode())


def test_one_of_two_simultaneous_saves_conflicts(tenant: Tenant) -> None:
    def save(name: str) -> bool:
        try:
            with tenant.tx():
                change_agent(tenant.project, Edit({"agent_name": name}, 1, tenant.owner))
        except ChangedMeanwhile:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(4) as pool:
        saved = list(pool.map(save, ["Anna", "Bruno", "Carla", "Dario"]))
    assert sorted(saved) == [False, False, False, True]


def test_a_form_with_an_unknown_version_conflicts(owner: Settings) -> None:
    assert owner.change(agent_name="Bruno", started_from="99").status_code == 409


A, B, C = ({"title": name, "text": "x"} for name in "ABC")


@pytest.mark.parametrize(
    ("base", "theirs", "mine", "value", "is_conflict"),
    [
        ("a", "b", "a", "b", False),
        ("a", "a", "b", "b", False),
        ("a", "b", "b", "b", False),
        ("a", "b", "c", "c", True),
        ({"x": 1, "y": 1}, {"x": 2, "y": 1}, {"x": 1, "y": 2}, {"x": 2, "y": 2}, False),
        ({"x": 1}, {}, {"x": 1, "y": 2}, {"y": 2}, False),
        ([A, B], [A, {**B, "text": "y"}], [{**A, "text": "z"}, B], [{**A, "text": "z"}, {**B, "text": "y"}], False),
        # They moved two items, I changed one of them: merging by position would lose one.
        ([A, B], [B, A], [{**A, "text": "z"}, B], [{**A, "text": "z"}, B], True),
        ([A, B], [A, B, C], [{**A, "text": "z"}, B], [{**A, "text": "z"}, B], True),
        ([A], [{**A, "text": "y"}], [{**A, "text": "z"}], [{**A, "text": "z"}], True),
        # I renamed an item while they changed it: mine could be a different one.
        ([A, B], [{**A, "text": "y"}, B], [C, B], [C, B], True),
    ],
)
def test_merge(base: Any, theirs: Any, mine: Any, value: Any, is_conflict: bool) -> None:
    merged = merge(base, theirs=theirs, mine=mine)
    assert (merged.value, merged.is_conflict) == (value, is_conflict)


@pytest.mark.parametrize("name", ["title", "name", "key"])
def test_list_items_are_merged_by_their_key(name: str) -> None:
    item = {name: "hours", "text": "x", "more": "x"}
    merged = merge([item], theirs=[{**item, "text": "y"}], mine=[{**item, "more": "z"}])
    assert (merged.value, merged.is_conflict) == ([{name: "hours", "text": "y", "more": "z"}], False)


def test_a_key_is_not_stored_for_a_concurrently_changed_url(owner: Settings, second: Settings) -> None:
    """The URL was changed since the form was loaded."""
    ours, theirs = "https://models.example/v1", "https://elsewhere.example/v1"
    owner.change("models", model_base_url=ours, shared_model="large")
    form = second.form("models")
    owner.change("models", model_base_url=theirs, shared_model="large")
    answer = second.save(form, "models", model_api_key="sk-ours")
    assert (answer.status_code, owner.document["model_base_url"]) == (422, theirs)
    assert f"Someone changed the address to {theirs}." in answer.content.decode()


def test_concurrently_added_attributes_become_one(tenant: Tenant) -> None:
    """The later value wins, and neither request fails."""

    def put(value: str) -> None:
        with tenant.tx():
            set_attribute(tenant.project, "house_rule", value)

    with meanwhile("projects_attribute", lambda: put("second")) as other:
        put("first")
    other[0].result()
    with tenant.tx():
        assert resolve_attributes(tenant.project)["house_rule"].value == "second"


def saved_at(text: str, kind: TodoType) -> str:
    """The type's save time as rendered in its form."""
    [moment] = re.findall(rf'value="{kind.pk}"><input type="hidden" name="saved_at" value="([^"]+)"', text)
    return str(moment)


def test_a_concurrently_saved_todo_type_is_not_overwritten(owner: Settings, tenant: Tenant) -> None:
    """Otherwise an outdated form would reset who may approve."""
    fields = {"name": "Letter", "description": "A letter", "tools": []}

    with tenant.tx():
        made = types.save_type(tenant.project, fields)
    seen = saved_at(owner.page("todos"), made)
    with tenant.tx():
        types.save_type(tenant.project, {"approver_role": "owner"}, type_id=made.pk)
    form = {**fields, "do": "save", "id": str(made.pk), "approver_role": "operator", "second_approver": "never"}
    form |= {"description": "Any letter", "expires_after_hours": "168"}
    refused = owner.client.post(owner.address("todos"), {**form, "saved_at": seen})
    text = refused.content.decode()
    assert "Somebody else saved Letter with a different description, approver role" in text
    with tenant.tx():
        assert TodoType.objects.get(pk=made.pk).approver_role == "owner"
    again = owner.client.post(owner.address("todos"), {**form, "saved_at": saved_at(text, made)})
    assert again.status_code == 302


@pytest.mark.parametrize("place", [{"id": "x"}, {"id": ""}, {"saved_at": "2026-11-23T00:00:00+00:00"}])
def test_a_form_without_a_valid_type_creates_no_todo_type(
    owner: Settings, tenant: Tenant, place: dict[str, str]
) -> None:
    form = {"do": "save", "name": "Letter", "description": "A letter", "expires_after_hours": "168"}
    form |= {"approver_role": "operator", "second_approver": "never", "saved_at": "2026-11-23T00:00:00+00:00", **place}
    assert owner.client.post(owner.address("todos"), form).status_code == 404
    with tenant.tx():
        assert not TodoType.objects.filter(name="Letter").exists()
