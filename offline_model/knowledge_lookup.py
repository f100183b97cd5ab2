"""Knowledge base lookups for questions that the prompt doesn't answer."""

from __future__ import annotations

import re

from offline_model.business import best_sentences, covers
from offline_model.wire import ChatCall, Tool, ToolUse

LOOK_UPS = ("search_knowledge", "query_knowledge")
CARD = "send_kb_article"
FOUND = "The knowledge base says"
NOTHING = "The knowledge base has nothing"
SHOWN, NOT_SHOWN = "The customer sees a card", "No card can be shown here"
ARTICLE = re.compile(r"^(?P<title>.+) \(slug: (?P<slug>[\w-]+)\)$", re.MULTILINE)
LONGEST = 400


def knowledge_call(call: ChatCall, left: list[Tool], question: str) -> ToolUse | None:
    """Call that searches the knowledge base or shows the article found."""
    if not set(call.answered_tools) <= {*LOOK_UPS, CARD}:
        return None
    names = {tool.name for tool in left}
    found = ARTICLE.search(_answer_in(call))
    if found and CARD in names:
        return ToolUse(CARD, {"slug": found["slug"]})
    asks = next((name for name in LOOK_UPS if name in names), "")
    is_asked = any(name in call.answered_tools for name in LOOK_UPS)
    return ToolUse(asks, {"query": question[:1000]}) if asks and not is_asked and question else None


def is_knowledge_result(result: str) -> bool:
    """True for a result of a knowledge tool."""
    return result.startswith((FOUND, NOTHING, SHOWN, NOT_SHOWN))


def summarize_article(result: str, question: str) -> str:
    """Summary of the best article, or an empty string if none was found or a card shows it."""
    if not result.startswith(FOUND):
        return ""
    heads = list(ARTICLE.finditer(result))
    if not heads:
        return ""
    end = heads[1].start() if len(heads) > 1 else len(result)
    text = result[heads[0].end() : end].strip()
    if not covers(f"{heads[0]['title']} {text}", question):
        return ""
    sentences = best_sentences([text], question) or best_sentences([text], heads[0]["title"]) or text.splitlines()[:1]
    said = " ".join(one if one.endswith((".", "!", "?")) else f"{one}." for one in sentences)
    return said[:LONGEST]


def _answer_in(call: ChatCall) -> str:
    """Knowledge base result of the current turn."""
    results: list[str] = []
    for role, text in reversed(call.messages):
        if role == "user":
            break
        if role == "tool":
            results.append(text)
    return next((text for text in results if text.startswith(FOUND)), "")
