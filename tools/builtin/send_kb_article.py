"""send_kb_article: shows a card of a published article; in channels without cards, the agent reads its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from projects.common.verticals import Capability
from projects.knowledge.links import article_url
from projects.models import Article
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define, shows_blocks
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.gates import needs_articles

SHOWN = "The customer sees a card of the article “{title}”, with a link to it."
IN_WORDS = (
    "No card can be shown here. Tell the customer what the article “{title}” says: {excerpt} Its address is {url}."
)
NOT_FOUND = "There is no published article {slug!r}. Use a slug that search_knowledge returned."


class CardArguments(BaseModel):
    slug: str = Field(min_length=1, max_length=120, description="The article's slug, as search_knowledge returned it.")


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Only published articles of this project are found."""
    slug = str(arguments["slug"])
    card = await in_db(_find_card, context, slug)
    if card is None:
        return Outcome.failed(NOT_FOUND.format(slug=slug))
    if not shows_blocks(context):
        return Outcome.done(IN_WORDS.format(**card))
    return Outcome.done(SHOWN.format(**card), block=card)


def _find_card(context: ToolContext, slug: str) -> dict[str, Any] | None:
    with tenant_tx(context.organization_id):
        rows = Article.objects.select_related("project").filter(project_id=context.project_id, slug=slug)
        found = rows.filter(published_at__isnull=False).first()
    if found is None:
        return None
    url = article_url(found.project.slug, found.slug)
    return {"type": "article_card", "title": found.title, "excerpt": found.excerpt, "url": url, "slug": found.slug}


TOOL = BuiltinTool(
    name="send_kb_article",
    kind="",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=needs_articles,
    definition=define("Shows the customer a card with title, excerpt and link of an article that answers them."),
    handler=Handler(execute=execute, arguments=CardArguments),
    moments=(Trigger.TURN,),
    capability=Capability.KB_ARTICLE_CARD,
    category="knowledge",
    section="""\
### Showing an Article
- When an article that `search_knowledge` returned answers the customer, call `send_kb_article` with its slug.
- Say in a sentence what it says; write its address only where the tool says that no card can be shown.""",
)
