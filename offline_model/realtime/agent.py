"""The agent of a call whose caller types: the offline model's replies, from a session's instructions and tools."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from offline_model.composer import compose
from offline_model.prompt_reader import section
from offline_model.wire import ChatCall, Tool

Json = dict[str, Any]
# Sections of a session's instructions that a reply's prompt has in its volatile part.
VOLATILE = ("Now", "Customer")
NEWS = ("UrgentMessages", "FromTheBusiness", "Correction")
# The product looks the caller up by itself, before the first word.
LOOKED_UP = "lookup_caller"
PLAN = "CurrentTaskAnalysis"


@dataclass
class Dialog:
    """A call's words so far. `news` came in since the agent spoke, `results` are those of tools since then."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    news: list[str] = field(default_factory=list)
    plan: str = ""
    results: list[tuple[str, str]] = field(default_factory=list)

    def hear(self, text: str) -> None:
        """The caller said something."""
        self.lines.append(("user", text))

    def tell(self, text: str) -> None:
        """An update for the model."""
        if f"<{PLAN}" in text:
            self.plan = text
        else:
            self.news.append(text)

    def answer(self, session: Json) -> Json:
        """The next step: what is said, and the tool that is called."""
        instructions = str(session.get("instructions", ""))
        greeting = section(instructions, "Greeting")
        if greeting and not any(role == "assistant" for role, _ in self.lines):
            step: Json = {"say": greeting}
        else:
            answer = compose(self._call(instructions, session.get("tools", [])))
            step = {"say": answer.text}
            if answer.tool_calls:
                use = answer.tool_calls[0]
                step |= {"call": use.name, "raw": use.arguments_text}
        if not step.get("call"):
            self.news.clear()
            self.results.clear()
        if step["say"]:
            self.lines.append(("assistant", step["say"]))
        return step

    def _call(self, instructions: str, tools: list[Json]) -> ChatCall:
        spoken = max((at + 1 for at, (role, _) in enumerate(self.lines) if role == "assistant"), default=0)
        heard = [text for _, text in self.lines[spoken:]]
        parts = [f"<{name}>\n{section(instructions, name)}\n</{name}>" for name in VOLATILE]
        parts += [f"{self.plan}\n", *(news for news in self.news if _is_news(news))]
        parts.append("<LatestMessages>\n" + "".join(f"customer: {text}\n" for text in heard) + "</LatestMessages>")
        return ChatCall(
            model="offline-large",
            messages=[
                ("system", instructions),
                *self.lines[:spoken],
                ("user", "\n".join(parts)),
                *(("tool", text) for _, text in self.results),
            ],
            tools=tuple(
                Tool(tool["name"], tool.get("description", ""), tool.get("parameters", {}))
                for tool in tools
                if tool["name"] != LOOKED_UP
            ),
            answered_tools=tuple(name for name, _ in self.results),
        )


def _is_news(text: str) -> bool:
    return any(re.search(rf"^<{name}>", text, re.MULTILINE) for name in NEWS)
