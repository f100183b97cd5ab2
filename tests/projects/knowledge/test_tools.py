"""The knowledge base's tools, called by a model during a reply."""

from __future__ import annotations

import pytest

from projects.agents.services import create_project
from projects.common.verticals import VERTICALS
from projects.knowledge.answers import FOUND, NOTHING
from projects.knowledge.services import Writer, write_article
from projects.knowledge.text import ArticleText
from projects.models import Article
from projects.models.agent_config import AgentConfig
from tests.conftest import Tenant, make_tenant
from tests.conversations.tool_runs.conftest import turns  # noqa: F401 - a fixture
from tests.conversations.tool_runs.turns import Turns
from tests.projects.knowledge.conftest import Write
from tools.engine.business_state import BusinessState
from tools.engine.definition import Trigger
from tools.engine.function_calling.offer import offer_at

HELP_CENTER = VERTICALS["help_center"].capabilities


def offered(moment: Trigger, state: BusinessState) -> set[str]:
    return set(offer_at(moment, state, None).tools)


@pytest.mark.requirement("F10")
def test_search_knowledge_is_always_offered() -> None:
    assert all(
        "search_knowledge" in offered(Trigger.TURN, BusinessState(channel)) for channel in ("chat", "phone", "sms")
    )


@pytest.mark.requirement("L05", "L18")
def test_query_knowledge_is_offered_in_calls_if_there_are_articles() -> None:
    """Together with the rule that requires it."""
    assert "query_knowledge" not in offered(Trigger.LIVE, BusinessState("phone"))
    with_articles = offer_at(Trigger.LIVE, BusinessState("phone", has_articles=True), None)
    assert "`query_knowledge` is required before you answer any question" in with_articles.addendum


@pytest.mark.requirement("W07")
def test_a_card_needs_its_capability_and_an_article() -> None:
    able = BusinessState("chat", capabilities=HELP_CENTER, has_articles=True)
    assert "send_kb_article" in offered(Trigger.TURN, able)
    assert "send_kb_article" not in offered(Trigger.TURN, BusinessState("chat", has_articles=True))
    assert "send_kb_article" not in offered(Trigger.TURN, BusinessState("chat", capabilities=HELP_CENTER))


@pytest.mark.requirement("F10")
def test_a_search_returns_the_passage_and_creates_no_effect(turns: Turns, write: Write) -> None:  # noqa: F811 - the fixture
    write("Can I bring my dog?", "Dogs are welcome on the terrace.")
    turns.calls_tool("search_knowledge", {"query": "are dogs allowed?"})
    turns.says("They are, on the terrace.")
    turn = turns.say("Are dogs allowed?")
    assert (
        turns.result(turn)
        == f"{FOUND}\n\nCan I bring my dog? (slug: can-i-bring-my-dog)\nDogs are welcome on the terrace."
    )
    assert turns.effects(turn) == []


@pytest.mark.requirement("F10")
def test_a_search_that_finds_nothing_says_so(turns: Turns, write: Write) -> None:  # noqa: F811 - the fixture
    """Drafts are not searched."""
    write("Helicopters", is_published=False)
    turns.calls_tool("search_knowledge", {"query": "helicopters"})
    turns.says("I don't know.")
    assert turns.result(turns.say("Do you have helicopters?")) == NOTHING


@pytest.mark.requirement("W07", "W11")
def test_a_card_of_a_published_article_is_shown(turns: Turns, write: Write) -> None:  # noqa: F811 - the fixture
    turns.configure(vertical="help_center")
    write("Can I bring my dog?", excerpt="Yes, on the terrace.")
    turns.calls_tool("send_kb_article", {"slug": "can-i-bring-my-dog"})
    turns.says("Here it is.")
    block = turns.block(turns.say("Are dogs allowed?"))
    slug = turns.tenant.project.slug
    assert block == {
        "type": "article_card",
        "title": "Can I bring my dog?",
        "excerpt": "Yes, on the terrace.",
        "slug": "can-i-bring-my-dog",
        "url": f"http://127.0.0.1:8000/k/{slug}/can-i-bring-my-dog",
    }


@pytest.mark.requirement("W07")
@pytest.mark.parametrize("channel", ["phone", "sms", "whatsapp"])
def test_the_agent_is_told_when_no_card_can_be_shown(
    turns: Turns,  # noqa: F811 - the fixture
    write: Write,
    channel: str,
) -> None:
    turns.configure(vertical="help_center")
    write("Can I bring my dog?", excerpt="Yes, on the terrace.")
    talk = turns.on(channel, phone="+393471234567")
    talk.calls_tool("send_kb_article", {"slug": "can-i-bring-my-dog"})
    talk.says("Yes, on the terrace.")
    turn = talk.say("Are dogs allowed?")
    told = talk.result(turn)
    assert told.startswith("No card can be shown here.")
    assert "Yes, on the terrace. Its address is http://" in told
    assert turn.reply is not None
    assert turn.reply.blocks == []


@pytest.mark.requirement("W07")
@pytest.mark.parametrize("slug", ["a-draft", "theirs", "of-another-project", "no-such-article", "../../admin"])
def test_any_other_slug_is_not_found(
    turns: Turns,  # noqa: F811 - the fixture
    write: Write,
    empty: Tenant,
    slug: str,
) -> None:
    """A draft, another tenant's article, another project's article and a missing one."""
    turns.configure(vertical="help_center")
    with empty.tx():
        second = create_project("Second", config=AgentConfig.model_validate(empty.project.agent_version.document))
        text = ArticleText(title="Of another project", excerpt="", body="Words.")
        write_article(second, text, by=Writer(empty.owner), is_published=True)
    write("Published")
    write("A draft", is_published=False)
    stranger = make_tenant("Stranger")
    with stranger.tx():
        Article.objects.filter(slug="birthdays").update(slug="theirs")
    turns.calls_tool("send_kb_article", {"slug": slug})
    turns.says("I can't find it.")
    turn = turns.say("Show me the article")
    assert turns.result(turn).startswith(f"Error: There is no published article {slug!r}.")
    assert turn.reply is not None
    assert turn.reply.blocks == []
