"""Parser for the product's prompts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

LINE = re.compile(r"^(customer|agent|operator|system|user|assistant|tool): ?(.*)$")
ROLES = {"user": "customer", "assistant": "agent"}
SCENARIO = re.compile(r"^Scenario (\d+): (.+)$")
STEP = re.compile(r"^(\d+\.\d+) (.+?)(?: \(collects: ([^)]*)\))?(?: \(may promise: [^)]*\))?$")
FIELD = re.compile(r"^(new (?:phone|email), [^:]{1,90}|[\w .-]{1,60}?): (.*?)(?: \(known since [^()]*\))?$")
FILES = re.compile(r"(?: ⏎ )?\[File: [^\]\n]*\]")
ACTION = re.compile(r"^- ([\w.-]+): ([^,\n]+)(?:, (.*))?$")


@dataclass(frozen=True)
class Line:
    """One message; `role` is customer, agent, operator, system or tool."""

    role: str
    content: str


@dataclass(frozen=True)
class Step:
    number: str
    text: str
    collects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scenario:
    number: str
    title: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Action:
    name: str
    state: str
    note: str = ""

    @property
    def is_pending(self) -> bool:
        return self.state in ("pending", "planned", "sending", "queued", "running", "waiting") or self.state.startswith(
            "being"
        )

    @property
    def is_done(self) -> bool:
        return self.state == "done"


@dataclass(frozen=True)
class Directives:
    """The block CurrentTaskAnalysis, or PreviousDirectives."""

    scenario: str = ""
    step: str = ""
    goal: str = ""
    instructions: tuple[str, ...] = ()
    to_collect: tuple[str, ...] = ()
    tools_pending: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    awaiting: str = ""


@lru_cache(maxsize=32)
def _section_pattern(tag: str) -> re.Pattern[str]:
    return re.compile(rf"^<{tag}(?P<head>(?:\s[^>\n]*)?)>\n?(?P<body>.*?)</{tag}>", re.MULTILINE | re.DOTALL)


def section(text: str, tag: str) -> str:
    """Body of the section `<tag>`, or an empty string."""
    match = _section_pattern(tag).search(text)
    return match["body"].strip("\n") if match else ""


def attribute(text: str, *, tag: str, name: str) -> str:
    match = _section_pattern(tag).search(text)
    found = re.search(rf'\b{name}="([^"]*)"', match["head"]) if match else None
    return found[1] if found else ""


def transcript(text: str) -> list[Line]:
    """Messages of a section; a line without a role continues the previous message."""
    lines: list[Line] = []
    for raw in text.splitlines():
        match = LINE.match(raw)
        if match:
            lines.append(Line(ROLES.get(match[1], match[1]), _words(match[2])))
        elif lines:
            last = lines.pop()
            lines.append(Line(last.role, f"{last.content}\n{raw}".strip("\n")))
    return lines


def _words(content: str) -> str:
    """The words of a message without the names of its files, unless they are all there is."""
    return FILES.sub("", content).strip() or content


def last_of(lines: list[Line], role: str) -> str:
    return next((line.content for line in reversed(lines) if line.role == role), "")


def facts(text: str) -> dict[str, str]:
    """`field: value` lines."""
    pairs = (FIELD.match(line.strip()) for line in text.splitlines())
    return {pair[1]: pair[2].strip() for pair in pairs if pair}


def summary(text: str) -> tuple[str, dict[str, str]]:
    """The section Summary: the text, and the facts that follow it."""
    described, _, known = section(text, "Summary").partition("\n")
    return described, facts(known)


def actions(text: str) -> list[Action]:
    found = (ACTION.match(line.strip()) for line in text.splitlines())
    return [Action(match[1], match[2], match[3] or "") for match in found if match]


def bullets(text: str) -> list[str]:
    return [line.strip()[2:] for line in text.splitlines() if line.strip().startswith("- ")]


@lru_cache(maxsize=64)
def scenarios(text: str) -> tuple[Scenario, ...]:
    found: list[Scenario] = []
    for line in text.splitlines():
        if match := SCENARIO.match(line):
            found.append(Scenario(match[1], match[2].strip()))
        elif (match := STEP.match(line)) and found:
            last = found.pop()
            step = Step(match[1], match[2], tuple(_names(match[3] or "")))
            found.append(Scenario(last.number, last.title, (*last.steps, step)))
    return tuple(found)


def _names(text: str) -> list[str]:
    """A comma list of names, without the words that mean none."""
    return [name.strip() for name in text.split(",") if name.strip() and name.strip() not in ("none", "nothing")]


def directives(text: str, *, tag: str = "CurrentTaskAnalysis") -> Directives | None:
    body = section(text, tag)
    if not body:
        return None
    named = facts(body)
    numbered = re.findall(r"^\d+\. (.+)$", body, re.MULTILINE)
    return Directives(
        scenario=named.get("scenario", ""),
        step=named.get("step", ""),
        goal=named.get("goal of the next reply", named.get("goal", "")),
        instructions=tuple(numbered),
        to_collect=tuple(_names(named.get("still to collect", ""))),
        tools_pending=tuple(_names(named.get("tools pending", ""))),
        avoid=tuple(re.findall(r"^do not: (.+)$", body, re.MULTILINE)),
        awaiting=attribute(text, tag=tag, name="awaiting"),
    )


@dataclass(frozen=True)
class Condition:
    name: str
    description: str


@dataclass(frozen=True)
class ToolText:
    """A tool as the detection prompt lists it."""

    name: str
    description: str
    conditions: tuple[Condition, ...] = field(default=())


CONDITION = re.compile(r"^- `([^`]+)`: ?(.*)$", re.MULTILINE)
# Reference to the same condition of an earlier tool
AS_ABOVE = "as above"


@lru_cache(maxsize=256)
def tools(system: str) -> tuple[ToolText, ...]:
    """The tools under the heading `# Tools` of a detection prompt."""
    _, _, listed = system.partition("\n# Tools\n")
    found, seen = [], dict[str, str]()
    for part in re.split(r"^## ", listed, flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        described = CONDITION.split(rest, maxsplit=1)[0]
        named = {m[1]: seen.get(m[1], "") if m[2] == AS_ABOVE else m[2] for m in CONDITION.finditer(rest)}
        seen |= named
        found.append(
            ToolText(name.strip(), described.strip(), tuple(Condition(key, text) for key, text in named.items()))
        )
    return tuple(found)
