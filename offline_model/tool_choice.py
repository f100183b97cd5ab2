"""Tool selection during a reply, and spoken tool results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from offline_model.entities import find_email, find_phone
from offline_model.knowledge_lookup import CARD, LOOK_UPS, is_knowledge_result, knowledge_call, summarize_article
from offline_model.prompt_reader import Line, facts, section, transcript
from offline_model.schema_fields import FieldFinder
from offline_model.schema_instance import instance_of
from offline_model.slots import fill_slots
from offline_model.tool_matching import stem
from offline_model.wire import ChatCall, Tool, ToolUse
from offline_model.wordlist import words

PLAIN = words(
    """
    the a an of to for with and or in on by is are be it this that when if use call tool their them they customer
    guest user caller visitor agent conversation send get look up find open ask wants who which from inside into
    """
)
WORDS_FOR: dict[str, str] = {
    "order": r"\b(?:my|our|the|that|this|last|recent) (?:\w+ ){0,2}orders?\b|\border (?:status|number|#?\d)|\bpackage\b|\bparcel\b|"
    r"\bdeliver(?:y|ed)\b|\bshipped\b|\btrack(?:ing)?\b",
    "check_verification_code": r"^\D*\d{3}[ -]?\d{3}\D*$",
    "verification": r"\b(?:send|text|mail|get|need|new)\b.{0,30}\bcode\b|^\W*by (?:text|sms|e-?mail)\b",
    "human": r"\b(?:real|live|actual) (?:person|human|agent|people)\b|\ba human\b|\b(?:talk|speak|chat|connect|put|get|reach|want|need)\b"
    r"[^.?!]{0,40}\b(?:human|person|somebody|someone|operator|agent|manager|colleague|staff)\b|\b(?:human|person),? please\b|"
    # German, Italian, Spanish and French: a verb of speech with a person, or a real one.
    r"\b(?:mit|an) (?:jemande[mn]|(?:ein|d|ihr|eur)\w{0,3} (?:\w+ )?(?:mensch\w*|person|mitarbeit\w+|kolleg\w+|chef\w*|berater\w*))\b"
    r"[^.?!]{0,20}\b(?:sprechen|reden|telefonieren|schreiben|chatten|verbinden|verbunden|weiterleiten|weitergeleitet|durchstellen)\b|"
    r"\bverbinden sie mich mit\b|\b(?:echten?|richtigen?) (?:mensch\w*|person)\b|\b(?:mensch|mitarbeiter|person),? bitte\b|"
    r"\b(?:parlare|parlo|chattare|scrivere|collegar\w+|passarmi|mi passi|mi passa|mettermi|metter\w+ in contatto)\b"
    r"[^.?!]{0,25}\b(?:con|a) (?:qualcuno|(?:un|il|la|una|uno) ?"
    r"(?:\w+ )?(?:persona|uman[oa]|operat\w+|titolare|responsabile|collega))\b|\bpersona (?:vera|reale|in carne)\b|"
    r"\b(?:hablar|chatear|comunicar\w*|contactar|pasar\w*|poner\w*)\b[^.?!]{0,25}\bcon (?:alguien|(?:un|una|el|la) (?:\w+ )?"
    r"(?:persona|human[oa]|agente|operador\w?|compañer[oa]|encargad[oa]|responsable))\b|\bpersona (?:real|de verdad)\b|"
    r"\b(?:parler|discuter|échanger|écrire|passer|joindre|mett\w+ en (?:relation|contact)|mis en (?:relation|contact))\b[^.?!]{0,25}"
    r"\b(?:à|avec|a) (?:quelqu['’]un|(?:une?|le|la|votre) (?:\w+ )?(?:personne|humain\w?|conseill\w+|collègue|agent|responsable))\b|"
    r"\b(?:vraie|véritable) personne\b",
    "ticket": r"\b(?:ticket|complain\w*|refund|bug|billing|charged(?: me)? twice|double charge\w*|not working|dispute)\b",
    "flag": r"\b(?:kill|hurt|beat) you\b|\bburn (?:it|you|the place) down\b",
    "transfer": r"\b(?:transfer me|put me through|connect me|(?:speak|talk) (?:to|with) (?:a|an|the|your|some)\w*)\b",
    "end": r"\b(?:bye|goodbye|that's all|hang up)\b",
    "lookup_caller": r"(?!)",
    "check_availability": r"\b(?:free|available|availability)\b|\bhave (?:a|any)\b.{0,30}\b(?:table|slot|room|appointment|time)",
    "book_appointment": r"\b(?:book|reserve)\b",
    "lookup_appointment": r"\bmy (?:booking|reservation|appointment)\b",
    "cancel_appointment": r"\bcancel\b",
    "email": r"\be-?mail\b",
    "sms": r"\b(?:sms|text)\b",
}
MIN_OVERLAP = 2
# Not called where the scenarios have the agent promise bookings.
APPOINTMENTS = frozenset({"check_availability", "book_appointment", "lookup_appointment", "cancel_appointment"})
PROMISES_BOOKINGS = "Let me check availability"
# Called only when another tool's result asks for it.
FOLLOW_UP_TOOLS = frozenset({"verify_caller"})


def choose_tool(call: ChatCall, *, lacks_answer: Callable[[], bool]) -> ToolUse | None:
    """The tool that the customer's words ask for, with its arguments; None for none, or when it has been called in this turn.

    The knowledge base is asked only by one who `is_stumped`: what the prompt answers needs no look-up.
    """
    if not call.tools or (call.messages[-1][0] == "tool" and len(call.answered_tools) >= MAX_CALLS):
        return None
    newest, lines = _newest(call)
    left = [tool for tool in call.tools if tool.name not in call.answered_tools]
    if (first := _mandatory_tool(left, lines, call)) is not None:
        proof = _proof_in(newest) if first.name == "verify_caller" else {}
        return ToolUse(first.name, {**(_arguments(first, newest, lines, call) or {}), **proof})
    excluded = _excluded_tools(call)
    candidates = [tool for tool in left if tool.name not in excluded]
    scored = sorted(((_score(tool, newest), -i) for i, tool in enumerate(candidates)), reverse=True)
    for score, index in scored:
        if score < MIN_OVERLAP:
            break
        tool = candidates[-index]
        arguments = _arguments(tool, newest, lines, call)
        if arguments is not None:
            return ToolUse(tool.name, arguments)
    use = knowledge_call(call, left, newest)
    return use if use is not None and lacks_answer() else None


def _excluded_tools(call: ChatCall) -> set[str]:
    """Tools that a customer message alone never triggers."""
    described = " ".join(text for role, text in call.messages if role == "tool")
    waiting = {name for name in FOLLOW_UP_TOOLS if f"`{name}`" not in described}
    promised = APPOINTMENTS if PROMISES_BOOKINGS in call.system else frozenset()
    return {*LOOK_UPS, CARD, *waiting, *promised}


MAX_CALLS = 3
INSTRUCTION = re.compile(
    r"\b(?:(?:Do not|Never) say|Say (?:so|that)|Staff sees|Tell (?:the (?:customer|caller)|them)|"
    r"Ask (?:the (?:customer|caller)|them)|Offer to|(?:Call|Use) `)\b[^.]*\.?(?=\s|$)"
)
# Tools whose results are not read out.
SILENT_TOOLS = frozenset({"lookup_caller"})
NAMED = re.compile(r"`(\w+)`")
ORDERS = re.compile(
    r"(?P<count>\d+) orders were found, the newest first\. Order (?P<number>\S+)(?P<day> of \d+ \w+)? \d{4} is (?P<status>[\w -]+)"
)
ASKED_FOR_PROOF = "that we have on file for you"
GIVES_PROOF = "have on file for me"


def _mandatory_tool(left: list[Tool], lines: list[Line], call: ChatCall) -> Tool | None:
    """Tool that is called regardless of the message: the caller lookup, or one that a result or question asks for."""
    begins = not any(line.role == "agent" for line in lines)
    asked = NAMED.findall(call.messages[-1][1]) if call.messages[-1][0] == "tool" else []
    last = next((line.content for line in reversed(lines) if line.role == "agent"), "")
    said = _newest(call)[0]
    proves = ASKED_FOR_PROOF in last or GIVES_PROOF in said
    wanted = {*asked, *(SILENT_TOOLS if begins else ()), *({"verify_caller"} if proves else ())}
    return next((tool for tool in left if tool.name in wanted and not tool.parameters.get("required")), None)


def _proof_in(newest: str) -> dict[str, str]:
    """Contact details stated in the latest message only."""
    found = {"phone": find_phone(newest), "email": find_email(newest)}
    return {name: one.value for name, one in found.items() if one is not None}


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
        if key == tool.name.lower() or key in named:
            return 3 if re.search(pattern, low) else 0
    said = {stem(word) for word in re.findall(r"[a-z]+", low)}
    described = {stem(w) for w in re.findall(r"[a-z]+", tool.description.lower()) if w not in PLAIN and len(w) > 3}
    hits = sum(stem(part) in said for part in named)
    return 2 * hits + len(described & said) if hits else len(described & said) - 1


def _arguments(tool: Tool, newest: str, lines: list[Line], call: ChatCall) -> dict[str, Any] | None:
    """The arguments the text holds; None when a required one can't be found."""
    finder = FieldFinder(
        slots=fill_slots(facts(section(call.last_user, "Customer")), lines),
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


def describe_results(call: ChatCall) -> str:
    """Tool results of this turn as a sentence, or an empty string."""
    if not call.answered_tools or call.messages[-1][0] != "tool":
        return ""
    last_user = (
        max(i for i, m in enumerate(call.messages) if m[0] == "user")
        if any(m[0] == "user" for m in call.messages)
        else 0
    )
    answers = [text for role, text in call.messages[last_user + 1 :] if role == "tool"]
    results = [
        text
        for name, text in zip(call.answered_tools, answers, strict=False)
        if name not in SILENT_TOOLS and not {*NAMED.findall(text)} & {*call.answered_tools}
    ]
    question = _newest(call)[0]
    described = [
        summarize_article(text, question) if is_knowledge_result(text) else _summarize_orders(text) for text in results
    ]
    if all(is_knowledge_result(text) for text in results):
        return " ".join(one for one in described if one)
    return (
        " ".join(one for one in described if one)
        or "It's done as far as I can see. Is there anything else I can do for you?"
    )


def _summarize_orders(text: str) -> str:
    """Latest order of a list, since the customer sees the list as well; other results in full."""
    found = ORDERS.search(text)
    if found is None:
        return _plain_text(text)
    return f"Here are your {found['count']} newest orders. The last one, {found['number']}{found['day']}, is {found['status']}."


def without_instructions(text: str) -> str:
    """A tool result without the sentences addressed to the agent."""
    return " ".join(INSTRUCTION.sub("", text).split())


def _plain_text(text: str) -> str:
    inner = re.sub(r"</?[\w ]+(?:\s[^>]*)?>", " ", text).strip().removeprefix("Error: ")
    inner = without_instructions(inner)
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
