"""Tools inside the turn: whether the customer's words ask for one, and what its results say."""

from __future__ import annotations

import json
import re
from typing import Any

from llm.offline.fields import FieldFinder
from llm.offline.guest import read_guest
from llm.offline.prompt_reader import Line, facts, section, transcript
from llm.offline.schema_instance import instance_of
from llm.offline.tool_profile import stem
from llm.offline.wire import ChatCall, Tool, ToolUse
from llm.offline.wordlist import words

PLAIN = words(
    """
    the a an of to for with and or in on by is are be it this that when if use call tool their them they customer
    guest user caller visitor agent conversation send get look up find open ask wants who which from inside into
    """
)
WORDS_FOR: dict[str, str] = {
    "order": r"\border(?:s|ed)?\b|\bpackage\b|\bparcel\b|\bdelivery status\b|\btracking\b",
    "human": r"\b(?:human|real person|person|someone|somebody|operator|agent|manager|colleague)\b",
    "ticket": r"\b(?:ticket|complain\w*|refund|bug|broken|billing|charged twice|not working|error|dispute)\b",
    "transfer": r"\b(?:transfer|put me through|connect me|speak|talk)\b",
    "end": r"\b(?:bye|goodbye|that's all|hang up)\b",
    "knowledge": r"\?|\b(?:what|when|where|how|do you|is there|can i)\b",
    "article": r"\b(?:article|guide|help page|documentation|how do i|how can i|how to)\b",
    "lookup_caller": r"(?!)",
    "email": r"\be-?mail\b",
    "sms": r"\b(?:sms|text)\b",
}
MIN_OVERLAP = 2


def choose_tool(call: ChatCall) -> ToolUse | None:
    """The tool that the customer's words ask for, with its arguments; None for none, or when it has been called in this turn."""
    if not call.tools or (call.messages[-1][0] == "tool" and len(call.answered_tools) >= MAX_CALLS):
        return None
    newest, lines = _newest(call)
    left = [tool for tool in call.tools if tool.name not in call.answered_tools]
    scored = sorted(((_score(tool, newest), -i) for i, tool in enumerate(left)), reverse=True)
    for score, index in scored:
        if score < MIN_OVERLAP:
            return None
        tool = left[-index]
        arguments = _arguments(tool, newest, lines, call)
        if arguments is not None:
            return ToolUse(tool.name, arguments)
    return None


MAX_CALLS = 3


def _newest(call: ChatCall) -> tuple[str, list[Line]]:
    latest = transcript(section(call.last_user, "LatestMessages"))
    lines = [
        Line("agent" if role == "assistant" else "customer", text)
        for role, text in call.messages
        if role in ("user", "assistant")
    ]
    if latest:
        lines = [*lines[:-1], *latest]
        return " ".join(line.content for line in latest if line.role == "customer"), lines
    if "<LatestMessages>" in call.last_user:
        return "", lines
    return call.last_user, lines


def _score(tool: Tool, text: str) -> int:
    low = text.lower()
    if not low.strip():
        return 0
    named = [part for part in re.split(r"[^a-z]+", tool.name.lower()) if part and part not in PLAIN]
    for key, pattern in WORDS_FOR.items():
        if key in tool.name.lower() or key in named:
            return 3 if re.search(pattern, low) else 0
    said = {stem(word) for word in re.findall(r"[a-z]+", low)}
    described = {stem(w) for w in re.findall(r"[a-z]+", tool.description.lower()) if w not in PLAIN and len(w) > 3}
    hits = sum(stem(part) in said for part in named)
    return 2 * hits + len(described & said) if hits else len(described & said) - 1


def _arguments(tool: Tool, newest: str, lines: list[Line], call: ChatCall) -> dict[str, Any] | None:
    """The arguments the text holds; None when a required one can't be found."""
    finder = FieldFinder(
        guest=read_guest(facts(section(call.last_user, "Customer")), lines),
        newest=newest,
        everything=" ".join([*(line.content for line in lines), newest]),
    )
    properties = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    found = {name: finder.find(name, schema) for name, schema in properties.items() if isinstance(schema, dict)}
    if any(found.get(name) is None and not _has_default(properties.get(name)) for name in required):
        return None
    filled: dict[str, Any] = (
        instance_of(tool.parameters, fill=lambda name, _schema: found.get(name)) if tool.parameters else {}
    )
    extra = {name: value for name, value in found.items() if value is not None and name in required}
    return {**filled, **extra} if isinstance(filled, dict) else {}


def _has_default(schema: Any) -> bool:
    return isinstance(schema, dict) and (
        len(schema.get("enum", [])) == 1 or "const" in schema or schema.get("type") in ("boolean", "object", "array")
    )


def tell_results(call: ChatCall) -> str:
    """What the tools of this turn have answered, as a sentence; empty when none was called."""
    if not call.answered_tools or call.messages[-1][0] != "tool":
        return ""
    last_user = (
        max(i for i, m in enumerate(call.messages) if m[0] == "user")
        if any(m[0] == "user" for m in call.messages)
        else 0
    )
    told = [_told(text) for role, text in call.messages[last_user + 1 :] if role == "tool"]
    return (
        " ".join(one for one in told if one)
        or "It's done as far as I can see. Is there anything else I can do for you?"
    )


def _told(text: str) -> str:
    inner = re.sub(r"</?[\w ]+(?:\s[^>]*)?>", " ", text).strip()
    try:
        data = json.loads(inner)
    except ValueError:
        plain = " ".join(inner.split())[:600]
        return plain if plain.endswith((".", "!", "?")) or not plain else f"{plain}."
    return _flat(data)


def _flat(data: Any) -> str:
    if isinstance(data, dict):
        for key in ("message", "text", "answer", "summary", "error"):
            if isinstance(data.get(key), str):
                return str(data[key])
        pairs = [
            f"{key.replace('_', ' ')} {_flat(value)}" for key, value in data.items() if not isinstance(value, bool)
        ]
        return f"Here is what I found: {', '.join(pairs)}." if pairs else ""
    if isinstance(data, list):
        return "; ".join(_flat(one).removeprefix("Here is what I found: ").rstrip(".") for one in data[:5])
    return str(data)
