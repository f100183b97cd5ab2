"""Puts an answer together, from the chunks of a stream or from one body, and says what is wrong with it."""

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
    """A text as a database takes it: no NUL, and no half of a character."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass
class _CallParts:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CompletionBuilder:
    """One attempt's answer. `text` and the rest grow while it arrives; `flaw` judges it once it has ended."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.finish: FinishReason | None = None
        self.is_begun = False
        self._texts: list[str] = []
        self._half = ""
        self._refusal = ""
        self._has_choice = False
        self._calls: list[_CallParts] = []
        # By its key in the stream, the call that its parts belong to
        self._open: dict[int | str, _CallParts] = {}

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls; none when the answer was cut by length, for the last may be cut as well, and is never mended."""
        if self.finish is FinishReason.LENGTH:
            return ()
        return tuple(
            ToolCall(
                storable(call.id) or f"call_{number}", storable(call.name), storable("".join(call.arguments)) or "{}"
            )
            for number, call in enumerate(self._calls)
        )

    def add_chunk(self, chunk: Any) -> str:
        """Take in one event of the stream; its text is returned. Raises BadAnswer for anything that isn't one."""
        choice = self._choice_of(chunk)
        return self._add_part(choice, choice.get("delta")) if choice else ""

    def add_body(self, body: Any) -> str:
        """Take in a whole answer; its text is returned. Raises BadAnswer for anything that isn't one."""
        choice = self._choice_of(body)
        if choice is None:
            raise BadAnswer("The endpoint's answer has no choices.")
        return self._add_part(choice, choice.get("message"))

    def flaw(self) -> LlmError | None:
        """What makes the ended answer unusable, or None."""
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

    def _choice_of(self, message: Any) -> dict[str, Any] | None:
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
        text = self._storable(text if isinstance(text, str) else _text_of(text))
        if text:
            self._texts.append(text)
            self.is_begun = True
        if refusal := part.get("refusal"):
            self._refusal += str(refusal)
        self._add_calls(part.get("tool_calls"))
        self._add_finish(choice.get("finish_reason"))
        return text

    def _storable(self, text: str) -> str:
        """The text as a database takes it; half of a character that a server cut in two between events waits for the other."""
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return storable(text)

    def _add_finish(self, reason: Any) -> None:
        if not reason:
            return
        # Others write it in capitals, or say more after a colon
        self.finish = FINISH_REASONS.get(reason.partition(":")[0].lower()) if isinstance(reason, str) else None
        # Some servers close a tool call with "stop"
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
        # Servers that send whole calls leave the index out: then the id tells them apart, and then the place
        number, own_id = delta.get("index"), str(delta.get("id") or "")
        key = number if isinstance(number, int) else own_id or str(place)
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        name = str(function.get("name") or "")
        call = self._open.get(key)
        # Others give every call of an answer the index 0
        if call is None or (name and own_id and call.id not in ("", own_id)):
            call = self._open[key] = _CallParts()
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


def _text_of(parts: Any) -> str:
    """The text of a content in parts, as models send it that think aloud; what they think is none of it."""
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise BadAnswer("The answer's content is not a text.")
    return "".join(str(part.get("text") or "") for part in parts if part.get("type") == "text")


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _error_text(error: Any) -> str:
    text = error.get("message") if isinstance(error, dict) else error
    return str(text or "no message")
