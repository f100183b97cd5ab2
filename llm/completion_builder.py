"""Builds an answer from the chunks of a stream or from one body, and validates it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from llm.errors import BadAnswer, LlmError, Refused, StreamCut
from llm.types import FinishReason, ToolCall, Usage

FINISH_REASONS = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "eos": FinishReason.STOP,
    "eos_token": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "tool_calls": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "content_filter": FinishReason.CONTENT_FILTER,
    "safety": FinishReason.CONTENT_FILTER,
}


def storable(text: str) -> str:
    """Return the text without what PostgreSQL can't store: NUL characters and lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass
class _CallParts:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CompletionBuilder:
    """The answer of one attempt. It grows while the response arrives; `find_error` validates it at the end."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.finish: FinishReason | None = None
        self.is_begun = False
        self._texts: list[str] = []
        self._surrogate = ""
        self._refusal = ""
        self._has_choice = False
        self._calls: list[_CallParts] = []
        # Calls by their key in the stream
        self._open_calls: dict[int | str, _CallParts] = {}

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The complete tool calls, or none if the answer was truncated: the last call may be truncated too."""
        if self.finish is FinishReason.LENGTH:
            return ()
        return tuple(
            ToolCall(
                storable(call.id) or f"call_{number}", storable(call.name), storable("".join(call.arguments)) or "{}"
            )
            for number, call in enumerate(self._calls)
        )

    def add_chunk(self, chunk: Any) -> str:
        """Add one event of the stream and return its text. Raises BadAnswer for an invalid event."""
        choice = self._first_choice(chunk)
        return self._add_part(choice, choice.get("delta")) if choice else ""

    def add_body(self, body: Any) -> str:
        """Add a complete response body and return its text. Raises BadAnswer for an invalid body."""
        choice = self._first_choice(body)
        if choice is None:
            raise BadAnswer("The endpoint's answer has no choices.")
        return self._add_part(choice, choice.get("message"))

    def find_error(self) -> LlmError | None:
        """The error that makes the finished answer unusable, or None."""
        if self._refusal:
            return Refused(f"The model refused to answer: {self._refusal}")
        if self.finish is FinishReason.CONTENT_FILTER:
            return Refused("The provider's content filter stopped the answer.")
        if not self._has_choice:
            return BadAnswer("The endpoint's answer is empty.")
        if self.finish is None:
            return StreamCut()
        if self.finish is not FinishReason.LENGTH and not self._texts and not self._calls:
            return BadAnswer("The endpoint's answer has neither text nor tool calls.")
        return None

    def _first_choice(self, message: Any) -> dict[str, Any] | None:
        if not isinstance(message, dict):
            raise BadAnswer("The endpoint's answer is not a JSON object.")
        if message.get("error"):
            raise BadAnswer(f"The endpoint reports an error with status 200: {_error_text(message['error'])}")
        self._add_usage(message.get("usage"))
        choices = message.get("choices")
        if not choices:
            return None
        if not isinstance(choices, list) or not isinstance(choices[0], dict):
            raise BadAnswer("The endpoint's choices are not a list of objects.")
        self._has_choice = True
        choice: dict[str, Any] = choices[0]
        return choice

    def _add_part(self, choice: dict[str, Any], part: Any) -> str:
        if not isinstance(part, dict):
            part = {}
        text = part.get("content") or ""
        text = self._storable(text if isinstance(text, str) else _joined_text(text))
        if text:
            self._texts.append(text)
            self.is_begun = True
        if refusal := part.get("refusal"):
            self._refusal += str(refusal)
        self._add_calls(part.get("tool_calls"))
        self._add_finish(choice.get("finish_reason"))
        return text

    def _storable(self, text: str) -> str:
        """Return the storable text. Half of a surrogate pair at the end waits for the next event."""
        text, self._surrogate = self._surrogate + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._surrogate = text[:-1], text[-1]
        return storable(text)

    def _add_finish(self, reason: Any) -> None:
        if not reason:
            return
        # Some servers write it in capitals, or add details after a colon
        self.finish = FINISH_REASONS.get(reason.partition(":")[0].lower()) if isinstance(reason, str) else None
        # Some servers end a tool call with "stop"
        if self.finish is FinishReason.STOP and self._calls:
            self.finish = FinishReason.TOOL_CALLS

    def _add_calls(self, deltas: Any) -> None:
        if not deltas:
            return
        if not isinstance(deltas, list) or not all(isinstance(delta, dict) for delta in deltas):
            raise BadAnswer("The answer's tool calls are not a list of objects.")
        self.is_begun = True
        for place, delta in enumerate(deltas):
            self._add_call(delta, place=place)

    def _add_call(self, delta: dict[str, Any], *, place: int) -> None:
        # Servers that send complete calls omit the index: the id identifies them, or else the position
        number, own_id = delta.get("index"), str(delta.get("id") or "")
        key = number if isinstance(number, int) else own_id or str(place)
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        name = str(function.get("name") or "")
        call = self._open_calls.get(key)
        # Some servers give every call of an answer the index 0
        if call is None or (name and own_id and call.id not in ("", own_id)):
            call = self._open_calls[key] = _CallParts()
            self._calls.append(call)
        call.id = call.id or own_id
        call.name = call.name or name
        arguments = function.get("arguments")
        if arguments:
            call.arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))

    def _add_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else 0
        self.usage = Usage(_count(usage.get("prompt_tokens")), _count(cached), _count(usage.get("completion_tokens")))


def _joined_text(parts: Any) -> str:
    """The text of content in parts, as reasoning models send it. Other parts are ignored."""
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise BadAnswer("The answer's content is not a text.")
    return "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _error_text(error: Any) -> str:
    text = error.get("message") if isinstance(error, dict) else error
    return str(text or "no message")
