"""Inputs and outputs of model calls. Cheap to import: no SDK, no Django."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any


@dataclass(frozen=True)
class Endpoint:
    """A Chat Completions server. `base_url` ends with the API version ("https://api.openai.com/v1").

    `trusted` is for the operator's own endpoint; any other (a project's) goes through the outbound guard. If `closed`
    is set, nothing is sent: every call is Rejected with that message.
    """

    base_url: str
    api_key: str = field(default="", repr=False)
    trusted: bool = False
    closed: str = ""


@dataclass(frozen=True)
class ModelSpec:
    """A model at an endpoint."""

    endpoint: Endpoint
    model: str


@dataclass(frozen=True)
class Deadlines:
    """Limits of a whole call including its retries, in seconds from its start."""

    first_token_s: float = 20.0
    total_s: float = 60.0


REPLY_DEADLINES = Deadlines()
LANE_DEADLINES = Deadlines(first_token_s=45.0, total_s=45.0)


@dataclass(frozen=True)
class ToolCall:
    """A tool call requested by the model. `arguments_json` is the model's raw text; use `arguments` to parse it."""

    id: str
    name: str
    arguments_json: str

    def arguments(self) -> dict[str, Any] | None:
        """The arguments, or None if they are not a JSON object. A call without valid arguments is never run."""
        try:
            arguments = json.loads(self.arguments_json)
        except (ValueError, RecursionError):
            return None
        return arguments if isinstance(arguments, dict) else None


@dataclass(frozen=True)
class Usage:
    """Tokens of a call over all attempts. `cached_tokens` are part of `input_tokens`. All zero if not reported."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.cached_tokens + other.cached_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True)
class Picture:
    """An image that a model sees."""

    content_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True)
class Recording:
    """A sound file that is transcribed. `seconds` is how long it plays, 0 if that is unknown."""

    name: str
    content_type: str
    content: bytes = field(repr=False)
    seconds: float = 0


class FinishReason(StrEnum):
    """The reason why the model stopped. A reply is complete only with `stop`."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """A request to a model. `messages` and `tools` are in the wire format of Chat Completions.

    With `may_call=False` the tools are sent but may not be called: providers need the definitions of earlier calls.
    `system_without_tools` replaces the system message where no tools are sent, so that it offers none. `pictures` belong
    to the last message of the role `user`; they are no part of a call's record.
    """

    skill: str
    template_hash: str
    model: ModelSpec
    messages: list[dict[str, Any]]
    pictures: Sequence[Picture] = ()
    tools: Sequence[dict[str, Any]] = ()
    may_call: bool = True
    system_without_tools: str = ""
    deadlines: Deadlines = REPLY_DEADLINES
    max_output_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A finished answer. If `finish` is length, the text is truncated and the tool calls are dropped.

    `text` is free of tool calls. `has_dropped_markup` is True if it contained some that can't be run.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish: FinishReason
    has_dropped_markup: bool = False
    usage: Usage
    first_token_ms: int | None
    total_ms: int
    attempts: int


@dataclass(frozen=True, kw_only=True)
class CallRecord:
    """The record of a call, however it ended. None of its texts contains an API key.

    `error_code` is None for success, an LlmError's code, `cancelled` or `internal`. `cost_usd` is None if the price or
    the usage is unknown. `first_token_ms` is None for a call that wasn't streamed.
    """

    skill: str
    template_hash: str
    model: str
    host: str
    messages: list[dict[str, Any]]
    output: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    cost_usd: Decimal | None
    started_at: datetime
    first_token_ms: int | None
    total_ms: int
    attempts: int
    finish: FinishReason | None
    error_code: str | None
