"""query_knowledge: searches the knowledge base during a live call."""

from __future__ import annotations

from tools.builtin.search_knowledge import QuestionArguments, execute
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_articles

TOOL = BuiltinTool(
    name="query_knowledge",
    kind="",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=needs_articles,
    definition=define("Looks a question up in the business's knowledge base, during the call."),
    handler=Handler(execute=execute, arguments=QuestionArguments),
    moments=(Trigger.LIVE,),
    category="knowledge",
    section="""\
### Answering from the Knowledge Base
- `query_knowledge` is required before you answer any question about the business, its products, prices or rules.
- Do NOT answer such a question from memory, even when you are sure.
- When it returns nothing, say that you don't know, and offer to pass the question on.""",
)
