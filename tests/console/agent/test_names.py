"""Names in the settings: of tools that don't exist, and of two intents alike."""

from __future__ import annotations

import pytest

from projects.agents.agent_versions import duplicate_intents
from projects.agents.services import latest_agent_version, save_agent
from projects.agents.templates_catalogue import NAMES, Locale, business_templates
from tests.console.agent.conftest import Settings
from tests.tools.examples import event
from tools.engine.custom import service

OWN = "tell_colleagues_tool"
GONE = f"{OWN} doesn’t exist any more: choose another tool, or leave it out here."


@pytest.fixture
def own_tool(owner: Settings) -> None:
    with owner.tenant.tx():
        service.add(owner.tenant.project, name=OWN, document=event())


def remove(owner: Settings) -> None:
    with owner.tenant.tx():
        service.remove(owner.tenant.project, OWN)


def test_a_step_may_not_promise_what_no_tool_does(owner: Settings) -> None:
    response = owner.change("scenarios", scenarios__0__steps__1__tools="send_sms_tool, chek_availability_tool")
    assert response.status_code == 422
    page = response.content.decode().replace("&#x27;", "'")
    assert "There is no tool 'chek_availability_tool'. Did you mean 'check_availability_tool' or " in page
    assert "See the Tools page for all tools." in page
    assert 'aria-describedby="scenarios-0-steps-1-tools-error"' in page
    assert len(owner.versions) == 1


@pytest.mark.usefixtures("own_tool")
def test_a_step_may_promise_a_tool_of_the_projects_own(owner: Settings) -> None:
    assert owner.change("scenarios", scenarios__0__steps__1__tools=OWN).status_code == 302


@pytest.mark.usefixtures("own_tool")
def test_a_tool_that_was_removed_is_marked_beside_its_step_and_hinders_nothing(owner: Settings) -> None:
    owner.change("scenarios", scenarios__0__steps__1__tools=OWN)
    assert GONE not in owner.page("scenarios")
    remove(owner)
    assert owner.page("scenarios").count(GONE) == 1
    assert owner.change("scenarios", scenarios__0__title="A table").status_code == 302
    assert owner.change("business", agent_name="Bruno").status_code == 302


def test_two_intents_of_one_name_are_refused_beside_the_second(owner: Settings) -> None:
    first = owner.document["intents"][0]["name"]
    response = owner.change("intents", intents__2__name=f" {first.upper()} ")
    assert response.status_code == 422
    page = response.content.decode().replace("&#x27;", "'")
    assert f"Intent 1 is also called '{first}'" in page
    assert 'aria-describedby="intents-2-name-error"' in page
    assert len(owner.versions) == 1


def test_two_intents_that_stand_so_hinder_no_other_change(owner: Settings) -> None:
    """A version from before the rule goes on working."""
    with owner.tenant.tx():
        config = latest_agent_version(owner.tenant.project).config
        twice = config.model_copy(update={"intents": [config.intents[0], *config.intents]})
        save_agent(owner.tenant.project, config=twice, author=owner.tenant.owner)
    assert owner.change("business", agent_name="Bruno").status_code == 302
    assert owner.change("intents", intents__4__name="Something else").status_code == 422


@pytest.mark.parametrize("name", NAMES)
def test_no_template_has_two_intents_of_one_name(name: str) -> None:
    config = business_templates()[name].config_for("Da Nello", locale=Locale(timezone="Europe/Rome", region="IT"))
    assert duplicate_intents(config.intents) == {}
