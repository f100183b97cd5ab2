"""Knowledge base lookups for questions that the prompt doesn't answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    found = next(_answers(_answer_in(call), question), None)
    if found and CARD in names:
        return ToolUse(CARD, {"slug": found[0]})
    asks = next((name for name in LOOK_UPS if name in names), "")
    is_asked = any(name in call.answered_tools for name in LOOK_UPS)
    return ToolUse(asks, {"query": question[:1000]}) if asks and not is_asked and question else None


def is_knowledge_result(result: str) -> bool:
    """True for a result of a knowledge tool."""
    return result.startswith((FOUND, NOTHING, SHOWN, NOT_SHOWN))


def summarize_article(result: str, question: str) -> str:
    """Summary of the best article that answers the question, or an empty string if none does or a card shows it."""
    return next((said for _, said in _answers(result, question)), "")


def _answers(result: str, question: str) -> Iterator[tuple[str, str]]:
    """The slugs and summaries of the articles that answer the question, the best first.

    The search also finds articles that only share a word with it. One answers if its sentences do, or if its title is
    about the question.
    """
    if not result.startswith(FOUND):
        return
    heads = list(ARTICLE.finditer(result))
    for head, end in zip(heads, [*(one.start() for one in heads[1:]), len(result)], strict=True):
        text, title = result[head.end() : end].strip(), head["title"]
        sentences = best_sentences([text], question) if covers(f"{title} {text}", question) else []
        if not sentences and covers(title, question):
            sentences = best_sentences([text], title) or text.splitlines()[:1]
        said = " ".join(one if one.endswith((".", "!", "?")) else f"{one}." for one in sentences)
        if said:
            yield head["slug"], said[:LONGEST]


def _answer_in(call: ChatCall) -> str:
    """Knowledge base result of the current turn."""
    results: list[str] = []
    for role, text in reversed(call.messages):
        if role == "user":
            break
        if role == "tool":
            results.append(text)
    return next((text for text in results if text.startswith(FOUND)), "")
