"""Version history of the settings: comparison and restore."""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from projects.agents.agent_versions import Edit, change_agent
from projects.agents.services import create_project, save_agent
from projects.common.differences import differences
from projects.models import AgentVersion, User
from projects.models.agent_config import AgentConfig
from tests.console.agent.conftest import Settings


def test_the_history_shows_authors_and_changes(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    page = owner.page("history")
    assert owner.tenant.owner.name in page
    assert "Agent’s name" in page
    assert "<del>Nello</del><ins>Bruno</ins>" in page


def test_times_are_in_the_business_time_zone(owner: Settings) -> None:
    owner.publish_change("hours", timezone="Pacific/Kiritimati")
    page = owner.page("history")
    for version in owner.versions:
        assert f'{version.created_at.astimezone(ZoneInfo("Pacific/Kiritimati")):%H:%M:%S}"' in page


def test_any_two_versions_can_be_compared(owner: Settings) -> None:
    for name in ("Bruno", "Carla", "Dario"):
        owner.change(agent_name=name)
    page = owner.page("history", **{"from": 2, "to": 4})
    assert "<del>Bruno</del><ins>Dario</ins>" in page
    assert "Version 2 to 4" in page


def test_a_comparison_says_who_saved_both_versions_and_when(owner: Settings) -> None:
    owner.publish_change(agent_name="Bruno")
    page = re.sub(r"<[^>]+>", "", owner.page("history"))
    assert f"Version 3 by {owner.tenant.owner.name}, just now" in page
    assert re.search(r"Version 1 by .+, just now", page)


def test_restoring_creates_a_new_version(owner: Settings) -> None:
    first = owner.document
    owner.publish_change(agent_name="Bruno")
    response = owner.client.post(owner.address("history"), {"restore": "1", "started_from": "3"})
    assert response.status_code == 302
    assert (owner.document, owner.live.note) == (first, "Restored version 1")
    assert [version.number for version in owner.versions] == [4, 3, 2, 1]


def test_restoring_over_an_unseen_version_is_refused(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    owner.change(agent_name="Carla")
    response = owner.client.post(owner.address("history"), {"restore": "1", "started_from": "2"})
    assert response.status_code == 409
    assert owner.document["agent_name"] == "Carla"


def test_a_refused_restore_says_who_published_meanwhile(owner: Settings) -> None:
    owner.publish_change(agent_name="Bruno")
    response = owner.client.post(owner.address("history"), {"restore": "1", "started_from": "1"})
    assert f"{owner.tenant.owner.name} published version 3 just now" in response.context["problem"]


def test_a_restored_version_says_which_of_its_tools_are_gone(owner: Settings) -> None:
    published = owner.live.config.model_dump()
    steps = [{"text": "Tell the kitchen.", "tools": ["ring_kitchen_tool"]}]
    config = AgentConfig.model_validate({**published, "scenarios": [{"title": "Kitchen", "steps": steps}]})
    with owner.tenant.tx():
        save_agent(owner.tenant.project, config=config, author=owner.tenant.owner)
    owner.publish_change(scenarios__0__steps__0__tools="", section="scenarios")
    response = owner.client.post(owner.address("history"), {"restore": "2", "started_from": "4"}, follow=True)
    *_, last = response.context["messages"]
    assert (last.level_tag, "ring_kitchen_tool" in str(last)) == ("warning", True)


def test_a_restore_that_keeps_the_models_address_says_so(owner: Settings) -> None:
    owner.publish_change(
        "models", model_base_url="https://models.example/v1", model_api_key="sk-ours", shared_model="large"
    )
    response = owner.client.post(owner.address("history"), {"restore": "1", "started_from": "3"}, follow=True)
    assert owner.live.document["model_base_url"] == "https://models.example/v1"
    *_, last = response.context["messages"]
    assert last.level_tag == "warning"


def test_another_projects_version_is_not_restored(owner: Settings) -> None:
    """Projects number their versions independently."""
    with owner.tenant.tx():
        other = create_project("Other", config=owner.tenant.project.agent_version.config)
        change_agent(other, Edit({"agent_name": "Other"}, 1, owner.tenant.owner))
    assert owner.client.post(owner.address("history"), {"restore": "2", "started_from": "1"}).status_code == 404
    assert owner.client.post(owner.address("history"), {"restore": "1", "started_from": "1"}).status_code == 302
    assert owner.document["agent_name"] == "Nello"


def test_settings_that_became_invalid_can_be_fixed(owner: Settings) -> None:
    """A newer release may refuse what an older one accepted."""
    tenant, seen = owner.tenant, owner.versions[0]
    with tenant.tx():
        AgentVersion.objects.create(
            project=tenant.project, number=seen.number + 1, document={**seen.document, "timezone": "Europe/Nowhere"}
        )
        saved = change_agent(tenant.project, Edit({"timezone": "Europe/Rome"}, seen.number + 1, tenant.owner))
    assert (saved.number, saved.document["timezone"]) == (seen.number + 2, "Europe/Rome")


def test_a_version_with_a_now_blocked_url_is_not_restored(owner: Settings, settings: Any) -> None:
    """It doesn't block other changes."""
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    owner.publish_change("models", model_base_url="http://127.0.0.1:8999/v1", shared_model="large")
    settings.OUTBOUND_ALLOW = []
    assert owner.change(agent_name="Bruno").status_code == 302
    owner.publish_change("models", model_base_url="")
    response = owner.client.post(owner.address("history"), {"restore": "3", "started_from": "6"})
    assert (response.status_code, owner.document["model_base_url"]) == (422, "")


def test_viewers_cannot_restore(owner: Settings, viewer: User) -> None:
    owner.change(agent_name="Bruno")
    reader = Settings(owner.tenant, viewer)
    assert reader.client.post(owner.address("history"), {"restore": "1"}).status_code == 403
    assert "Restore version" not in reader.page("history")


@pytest.mark.parametrize("number", ["0", "9", "x", "-1", "9" * 50])
def test_an_unknown_version_is_not_found(number: str, owner: Settings) -> None:
    assert owner.client.post(owner.address("history"), {"restore": number, "started_from": "1"}).status_code == 404


def test_the_first_version_has_no_comparison(owner: Settings) -> None:
    assert "<ins>" not in owner.page("history")


def step(text: str) -> dict[str, Any]:
    return {"text": text, "collects": [], "tools": []}


def scenario(title: str, *texts: str) -> dict[str, Any]:
    return {"title": title, "steps": [step(text) for text in texts]}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"style": "warm"}, {"style": "warm"}, []),
        ({"style": "warm"}, {"style": "cold"}, [("Style", "warm", "cold")]),
        ({"hours": {"mon": []}}, {"hours": {"mon": [["09:00", "17:00"]]}}, [("Hours, Monday", "", "09:00 to 17:00")]),
        (
            {"scenarios": [scenario("Book", "a", "c")]},
            {"scenarios": [scenario("Book", "a", "b", "c")]},
            [("Scenario “Book”, step 2", "", "b")],
        ),
        (
            {"procedures": [{"title": "A", "text": "x"}, {"title": "B", "text": "y"}]},
            {"procedures": [{"title": "B", "text": "y"}, {"title": "A", "text": "x"}]},
            [("Procedure, order", "A, B", "B, A")],
        ),
        (
            {"intents": []},
            {"intents": [{"name": "A person", "working_hours": "x", "non_working_hours": "y"}]},
            [("Intent “A person”", "", "A person x y")],
        ),
        ({"models": {}}, {"models": {"reply": "large"}}, [("Models, reply", "", "large")]),
    ],
)
def test_difference(old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    assert [(change.label, change.before, change.after) for change in differences(old, new)] == expected
