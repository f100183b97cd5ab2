"""The draft: saved, compared, published with a note, discarded, rolled back."""

from __future__ import annotations

from typing import Any

import pytest

from projects.agents.model_choice import KEY_ATTRIBUTE, endpoint_of
from projects.agents.services import save_agent
from projects.models import AgentVersion, Project, User
from projects.models.agent_config import AgentConfig
from projects.records.attributes import read_secret
from tests.concurrent import meanwhile
from tests.console.agent.conftest import Settings

OURS, ELSEWHERE = "https://models.example/v1", "https://elsewhere.example/v1"


def test_the_page_compares_the_draft_with_what_is_live(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    owner.change(agent_name="Carla")
    assert "<del>Nello</del><ins>Carla</ins>" in owner.page("publish")


def test_publishing_records_who_and_why(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    owner.publish(note="Nello left")
    live = owner.live
    assert (live.author, live.note, live.is_draft) == (owner.tenant.owner, "Nello left", False)
    assert "Nello left" in owner.page("history")


def test_a_draft_that_changed_meanwhile_is_not_published_unseen(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    seen = owner.client.get(owner.address("publish")).context["started_from"]
    owner.change(agent_name="Carla")
    assert owner.client.post(owner.address("publish"), {"started_from": seen}).status_code == 409
    assert owner.live.number == 1


def test_without_a_draft_nothing_is_published(owner: Settings) -> None:
    assert owner.publish().status_code == 409
    assert len(owner.versions) == 1


def test_a_change_that_is_taken_back_is_no_draft(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    owner.change(agent_name="Nello")
    assert owner.client.get(owner.address("publish")).context["draft"] is None


def test_a_discarded_draft_stays_in_the_history(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    assert owner.publish(discard="yes").status_code == 302
    assert (owner.document["agent_name"], owner.live.number) == ("Nello", 1)
    assert [version.document["agent_name"] for version in owner.versions] == ["Nello", "Bruno", "Nello"]


def test_a_discarded_draft_can_be_taken_up_again(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    owner.publish(discard="yes")
    owner.client.post(owner.address("history"), {"restore": "2", "started_from": "3"})
    assert (owner.document["agent_name"], owner.live.document["agent_name"]) == ("Bruno", "Nello")


def test_a_rollback_keeps_the_changes_of_the_draft(owner: Settings) -> None:
    """Publishing the draft afterwards doesn't bring back what was rolled back."""
    owner.publish_change(agent_name="Bruno")
    owner.change(style="Terse.")
    owner.client.post(owner.address("history"), {"restore": "1", "started_from": "4"})
    assert (owner.live.document["agent_name"], owner.document["style"]) == ("Nello", "Terse.")
    owner.publish()
    assert (owner.live.document["agent_name"], owner.live.document["style"]) == ("Nello", "Terse.")


def test_one_of_two_simultaneous_publications_is_refused(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    started_from = {"started_from": "2"}
    with meanwhile("FOR NO KEY UPDATE", lambda: owner.client.post(owner.address("publish"), started_from)) as other:
        mine = Settings(owner.tenant, owner.tenant.owner).client.post(owner.address("publish"), started_from)
    assert sorted([mine.status_code, other[0].result().status_code]) == [302, 409]


def test_a_drafts_key_waits_for_its_publication(owner: Settings) -> None:
    """Otherwise the live agent would send it to the published address."""
    owner.publish_change("models", model_base_url=OURS, model_api_key="sk-ours", shared_model="large")
    owner.change("models", model_base_url=ELSEWHERE, model_api_key="sk-elsewhere")
    assert key_in_use(owner) == (OURS, "sk-ours")
    assert key_of_draft(owner) == (ELSEWHERE, "sk-elsewhere")
    owner.publish()
    assert key_in_use(owner) == (ELSEWHERE, "sk-elsewhere")


def test_a_discarded_drafts_key_is_forgotten(owner: Settings) -> None:
    owner.change("models", model_base_url=ELSEWHERE, model_api_key="sk-elsewhere", shared_model="large")
    owner.publish(discard="yes")
    owner.change("models", model_base_url=ELSEWHERE, shared_model="large")
    assert key_of_draft(owner) == (ELSEWHERE, "")


def test_a_new_address_without_a_key_is_published_without_the_old_one(owner: Settings) -> None:
    owner.publish_change("models", model_base_url=OURS, model_api_key="sk-ours", shared_model="large")
    owner.publish_change("models", model_base_url="")
    owner.publish_change("models", model_base_url=ELSEWHERE, remove_key="yes")
    assert key_in_use(owner) == (ELSEWHERE, "")
    with owner.tenant.tx():
        assert read_secret(owner.tenant.project, KEY_ATTRIBUTE) is None


def key_in_use(owner: Settings) -> tuple[str, str]:
    return _endpoint(owner, owner.live)


def key_of_draft(owner: Settings) -> tuple[str, str]:
    return _endpoint(owner, owner.versions[0])


def _endpoint(owner: Settings, version: Any) -> tuple[str, str]:
    with owner.tenant.tx():
        project = Project.objects.get(pk=owner.tenant.project.pk)
        project.agent_version = version
        endpoint = endpoint_of(project, version.config)
    return endpoint.base_url, endpoint.api_key


def test_viewers_cannot_publish(owner: Settings, viewer: User) -> None:
    owner.change(agent_name="Bruno")
    reader = Settings(owner.tenant, viewer)
    assert reader.client.post(owner.address("publish"), {"started_from": "2"}).status_code == 403
    assert "Bruno" in reader.page("publish")


@pytest.mark.parametrize("section", ["business", "hours", "publish"])
def test_hours_that_a_text_contradicts_are_shown_beside_both(section: str, owner: Settings) -> None:
    owner.change(business_context="We are closed on Tuesdays.")
    shown = owner.client.get(owner.address(section)).context["contradictions"]
    assert [(one.quote, one.days) for one in shown] == [("We are closed on Tuesdays.", "Tuesday")]


def test_a_refused_publication_says_who_changed_the_draft_and_keeps_the_note(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    seen = owner.client.get(owner.address("publish")).context["started_from"]
    owner.change(agent_name="Carla")
    response = owner.client.post(owner.address("publish"), {"started_from": seen, "note": "Nello left"})
    assert f"{owner.tenant.owner.name} changed the draft just now" in response.context["problem"]
    assert 'value="Nello left"' in response.content.decode()


def test_a_publication_after_another_names_the_version_that_is_live(owner: Settings) -> None:
    owner.change(agent_name="Bruno")
    seen = owner.client.get(owner.address("publish")).context["started_from"]
    owner.publish()
    response = owner.client.post(owner.address("publish"), {"started_from": seen})
    assert f"{owner.tenant.owner.name} published version 3 just now" in response.context["problem"]


def test_the_page_names_tools_of_the_draft_that_are_gone(owner: Settings) -> None:
    """A tool that is removed while a draft names it isn't refused."""
    published = owner.live.config.model_dump()
    steps = [{"text": "Tell the kitchen.", "tools": ["ring_kitchen_tool"]}]
    config = AgentConfig.model_validate({**published, "scenarios": [{"title": "Kitchen", "steps": steps}]})
    with owner.tenant.tx():
        save_agent(owner.tenant.project, config=config, author=owner.tenant.owner, is_draft=True)
    assert "ring_kitchen_tool" in owner.client.get(owner.address("publish")).context["lost_tools"]


def test_a_draft_that_is_no_longer_valid_says_where(owner: Settings) -> None:
    """A newer release may refuse what an older one saved."""
    document = {**owner.document, "timezone": "Europe/Nowhere"}
    with owner.tenant.tx():
        AgentVersion.objects.create(project=owner.tenant.project, number=2, document=document, is_draft=True)
    response = owner.publish()
    assert response.status_code == 422
    assert response.context["problem"].startswith("timezone: ")
