"""Optional parameters that an endpoint's model rejected. They are left out of requests for an hour."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from llm.tool_markup import ends_unbegun_thoughts

# How servers report an unsupported parameter. Errors about a value ("is too large") don't match
UNSUPPORTED = re.compile(
    r"(not|n't|never|no longer|only) (be )?(support|allow|permit|accept|implement|recogni|available|enabled)"
    r"|unsupported|unavailable|unrecogni[sz]ed|unknown|unexpected|extra (inputs|fields)|no endpoints found"
    r"|enabled only|requires --",
    re.IGNORECASE,
)
UNSUPPORTED_CODES = frozenset({"unsupported_parameter", "unknown_parameter", "unsupported_value"})
SCHEMA_WORDS = ("response_format", "json_schema", "json mode")
TOOL_WORDS = (
    *("tools", "tool_choice", "tool choice", "tool use", "tool calls", "tool calling"),
    *("functions", "function calling"),
)
PICTURE_WORDS = ("image_url", "image input", "image inputs", "vision", "multimodal")
# Names of models that think. Many servers swallow the tag with which their thoughts begin.
THINKING_NAME = re.compile(r"(?<![a-z0-9])(r1|qwq|thinking|reasoner|reasoning)(?![a-z0-9])", re.IGNORECASE)
TOKENS_PARAMETERS = ("max_completion_tokens", "max_tokens")
REFUSAL_STATUSES = frozenset({400, 404, 422, 501})
# A server that was started without an option says so with status 500: "tools param requires --jinja flag", or "image
# input is not supported - hint: … you may need to provide the mmproj"
MISSING_OPTION = re.compile(r"requires --\w|image input is not supported", re.IGNORECASE)


@dataclass(frozen=True)
class ErrorReport:
    """An error response: its status, its text, and its `param` and `code` fields if present."""

    status: int
    text: str
    parameter: str = ""
    code: str = ""

    def is_about(self, *names: str) -> bool:
        """True if the error says that one of these parameters isn't supported."""
        is_missing_option = self.status == 500 and MISSING_OPTION.search(self.text) is not None
        if self.status not in REFUSAL_STATUSES and not is_missing_option:
            return False
        if self.parameter in names:
            return True
        is_named = any(re.search(rf"\b{re.escape(name)}\b", self.text, re.IGNORECASE) for name in names)
        return is_named and (self.code in UNSUPPORTED_CODES or UNSUPPORTED.search(self.text) is not None)


@dataclass
class Features:
    """The optional parameters that a model at an endpoint accepts. All of them, until it rejects one."""

    tokens_parameter: str | None = "max_completion_tokens"
    stream_options: bool = True
    json_schema: bool = True
    tools: bool = True
    pictures: bool = True
    # The model's answers begin with thoughts without their opening tag, as the last of its replies did.
    begins_thinking: bool = False
    # A reply has shown it. Until then it is remembered, or guessed from the model's name.
    has_shown_thinking: bool = False
    # What other processes remember of it.
    remembered_thinking: bool = False

    @classmethod
    def of_model(cls, name: str) -> Features:
        """The features that a model is believed to have."""
        is_thinking = THINKING_NAME.search(name) is not None
        return cls(begins_thinking=is_thinking, remembered_thinking=is_thinking)

    def learn(self, report: ErrorReport, *, body: dict[str, Any]) -> bool:
        """Drop the parameter that the endpoint rejected. Returns True if the request can be rebuilt and retried.

        Calls run concurrently, so another call may have dropped it already.
        """
        sent = next((name for name in TOKENS_PARAMETERS if name in body), "")
        steps: tuple[tuple[bool, tuple[str, ...], Callable[[], None]], ...] = (
            (bool(sent), (sent,), partial(self._use_older_tokens_parameter, sent)),
            ("stream_options" in body, ("stream_options", "include_usage"), self._drop_stream_options),
            ("response_format" in body, SCHEMA_WORDS, self._drop_json_schema),
            ("tools" in body, TOOL_WORDS, self._drop_tools),
            (has_pictures(body), PICTURE_WORDS, self._drop_pictures),
        )
        for is_sent, names, drop in steps:
            if is_sent and report.is_about(*names):
                drop()
                return True
        return False

    def learn_thinking(self, text: str, *, is_reply: bool) -> None:
        """Note whether the model's answers begin with thoughts without their opening tag.

        A whole reply without thoughts shows that they don't, for example if a customer made the model write `</think>`.
        Other answers show nothing: in a given form, there is no room for thoughts.
        """
        if ends_unbegun_thoughts(text):
            self.begins_thinking = self.has_shown_thinking = True
        elif is_reply and text:
            self.begins_thinking, self.has_shown_thinking = False, True

    def _use_older_tokens_parameter(self, sent: str) -> None:
        if self.tokens_parameter == sent:
            self.tokens_parameter = "max_tokens" if sent == "max_completion_tokens" else None

    def _drop_stream_options(self) -> None:
        self.stream_options = False

    def _drop_json_schema(self) -> None:
        self.json_schema = False

    def _drop_tools(self) -> None:
        self.tools = False

    def _drop_pictures(self) -> None:
        self.pictures = False


def has_pictures(body: dict[str, Any]) -> bool:
    """True if a request shows pictures."""
    return any(isinstance(message.get("content"), list) for message in body.get("messages", ()))
