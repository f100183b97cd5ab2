"""What an endpoint's model turned out not to understand, so that it isn't asked twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# How servers say that they don't know a parameter. A complaint about its value ("is too large") has none of these
UNSUPPORTED = re.compile(
    r"(not|n't|never|no longer) (be )?(support|allow|permit|accept|implement|recogni|available)"
    r"|unsupported|unrecogni[sz]ed|unknown|unexpected|extra (inputs|fields)|no endpoints found",
    re.IGNORECASE,
)
UNSUPPORTED_CODES = frozenset({"unsupported_parameter", "unknown_parameter", "unsupported_value"})
TOOL_WORDS = ("tools", "tool_choice", "tool use", "tool calls", "tool calling", "functions", "function calling")
REFUSAL_STATUSES = frozenset({400, 404, 422, 501})


@dataclass(frozen=True)
class Complaint:
    """A refusal of a request: its status, the error's text, and the `param` and `code` fields where there are any."""

    status: int
    text: str
    parameter: str = ""
    code: str = ""

    def is_about(self, *names: str) -> bool:
        """Whether it says that one of these parameters isn't supported."""
        if self.status not in REFUSAL_STATUSES:
            return False
        if self.parameter in names:
            return True
        is_named = any(re.search(rf"\b{re.escape(name)}\b", self.text) for name in names)
        return is_named and (self.code in UNSUPPORTED_CODES or UNSUPPORTED.search(self.text) is not None)


@dataclass
class Features:
    """The optional parameters which a model at an endpoint understands: all of them, until it complains."""

    tokens_parameter: str | None = "max_completion_tokens"
    stream_options: bool = True
    json_schema: bool = True
    tools: bool = True

    def learn(self, complaint: Complaint, *, body: dict[str, Any]) -> bool:
        """Give up what the endpoint complains about. True: the request, made anew, may be tried again."""
        steps: tuple[tuple[bool, tuple[str, ...], Callable[[], None]], ...] = (
            (self.tokens_parameter in body, (self.tokens_parameter or "",), self._weaken_tokens_parameter),
            ("stream_options" in body, ("stream_options", "include_usage"), self._drop_stream_options),
            ("response_format" in body, ("response_format", "json_schema"), self._drop_json_schema),
            ("tools" in body, TOOL_WORDS, self._drop_tools),
        )
        for is_sent, names, give_up in steps:
            if is_sent and complaint.is_about(*names):
                give_up()
                return True
        return False

    def _weaken_tokens_parameter(self) -> None:
        self.tokens_parameter = "max_tokens" if self.tokens_parameter == "max_completion_tokens" else None

    def _drop_stream_options(self) -> None:
        self.stream_options = False

    def _drop_json_schema(self) -> None:
        self.json_schema = False

    def _drop_tools(self) -> None:
        self.tools = False
