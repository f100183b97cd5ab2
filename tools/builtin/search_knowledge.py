"""search_knowledge: searches the business's published articles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from projects.knowledge.answers import read_answers
from projects.knowledge.search import LONGEST_QUESTION
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome


class QuestionArguments(BaseModel):
    query: str = Field(
        min_length=1, max_length=LONGEST_QUESTION, description="What the customer wants to know, in their own words."
    )


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    """Return what the articles say. An empty result is not an error."""
    return Outcome.done(await in_db(_look_up, context, str(arguments["query"])))


def _look_up(context: ToolContext, question: str) -> str:
    with tenant_tx(context.organization_id):
        return read_answers(context.project_id, question)


TOOL = BuiltinTool(
    name="search_knowledge",
    kind="",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=always,
    definition=define(
        "Looks a question up in the business's own articles. For what the business says nothing of above: how something "
        "works, what is allowed, what it costs, what to do."
    ),
    handler=Handler(execute=execute, arguments=QuestionArguments),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="knowledge",
    section="""\
### Searching the Knowledge Base
- When the sections above don't answer a question about the business, call `search_knowledge` before you say that you don't know.
- Answer from what it returns, in your own words. When it returns nothing, say so; never make an answer up.""",
)
