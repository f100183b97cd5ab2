"""Names in the settings: unknown tools and duplicate intents."""

from __future__ import annotations

import pytest

from projects.agents.agent_versions import duplicate_intents
from projects.agents.services import latest_agent_version, save_agent
from projects.agents.templates_catalogue import NAMES, Locale, business_templates
from tests.console.agent.conftest import Settings
from tests.tools.examples import event
from tools.engine.custom import service

OWN = "tell_colleagues_tool"
GONE = f"{OWN} no longer exists. Choose another tool or remove it."


@pytest.fixture
def own_tool(owner: Settings) -> None:
    with owner.tenant.tx():
        service.add(owner.tenant.project, name=OWN, document=event())


def remove(owner: Settings) -> None:
    with owner.tenant.tx():
        service.remove(owner.tenant.project, OWN)


def test_a_step_with_an_unknown_tool_is_refused(owner: Settings) -> None:
    response = owner.change("scenarios", scenarios__0__steps__1__tools="send_sms_tool, chek_availability_tool")
    assert response.status_code == 422
    page = response.content.decode().replace("&#x27;", "'")
    assert "There is no tool 'chek_availability_tool'. Did you mean 'check_availability_tool' or " in page
    assert "See the Tools page for all tools." in page
    assert 'aria-describedby="scenarios-0-steps-1-tools-error"' in page
    assert len(owner.versions) == 1


@pytest.mark.usefixtures("own_tool")
def test_a_step_can_use_a_custom_tool(owner: Settings) -> None:
    assert owner.change("scenarios", scenarios__0__steps__1__tools=OWN).status_code == 302


@pytest.mark.usefixtures("own_tool")
def test_a_removed_tool_warns_at_its_step_without_blocking(owner: Settings) -> None:
    owner.change("scenarios", scenarios__0__steps__1__tools=OWN)
    assert GONE not in owner.page("scenarios")
    remove(owner)
    assert owner.page("scenarios").count(GONE) == 1
    assert owner.change("scenarios", scenarios__0__title="A table").status_code == 302
    assert owner.change("business", agent_name="Bruno").status_code == 302


def test_duplicate_intents_are_refused_at_the_second(owner: Settings) -> None:
    first = owner.document["intents"][0]["name"]
    response = owner.change("intents", intents__2__name=f" {first.upper()} ")
    assert response.status_code == 422
    page = response.content.decode().replace("&#x27;", "'")
    assert f"Intent 1 is also called '{first}'" in page
    assert 'aria-describedby="intents-2-name-error"' in page
    assert len(owner.versions) == 1


def test_existing_duplicate_intents_do_not_block_other_changes(owner: Settings) -> None:
    """Versions from before the rule keep working."""
    with owner.tenant.tx():
        config = latest_agent_version(owner.tenant.project).config
        twice = config.model_copy(update={"intents": [config.intents[0], *config.intents]})
        save_agent(owner.tenant.project, config=twice, author=owner.tenant.owner)
    assert owner.change("business", agent_name="Bruno").status_code == 302
    assert owner.change("intents", intents__4__name="Something else").status_code == 422


@pytest.mark.parametrize("name", NAMES)
def test_no_template_has_duplicate_intents(name: str) -> None:
    config = business_templates()[name].config_for("Da Nello", locale=Locale(timezone="Europe/Rome", region="IT"))
    assert duplicate_intents(config.intents) == {}
