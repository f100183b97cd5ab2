"""Chat Completions wire format: request parsing and response encoding."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

PIECE = re.compile(r"\s*\S+|\s+")


class BadRequest(Exception):
    """The request is not one of the Chat Completions API."""


@dataclass(frozen=True)
class Tool:
    """One function the request offers."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class ChatCall:
    """One request. `messages` holds (role, text) pairs in order; tool results carry the role `tool`.

    `pictures` is the number of images, which the rules don't look at.
    """

    model: str
    messages: list[tuple[str, str]]
    stream: bool = False
    include_usage: bool = False
    schema_name: str = ""
    schema: dict[str, Any] | None = None
    tools: tuple[Tool, ...] = ()
    answered_tools: tuple[str, ...] = ()
    pictures: int = 0

    def text_of(self, role: str) -> str:
        return "\n".join(text for who, text in self.messages if who == role)

    @property
    def system(self) -> str:
        return self.text_of("system")

    @property
    def last_user(self) -> str:
        return next((text for who, text in reversed(self.messages) if who == "user"), "")

    @property
    def whole_text(self) -> str:
        return "\n".join(text for _, text in self.messages)


@dataclass(frozen=True)
class ToolUse:
    """A tool call in an answer. Arguments that are a text go out as they are, JSON or not."""

    name: str
    arguments: dict[str, Any] | str

    @property
    def arguments_text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else dump(self.arguments).decode()


@dataclass(frozen=True)
class Answer:
    """Model output: text or tool calls, and the finish reason."""

    text: str = ""
    tool_calls: tuple[ToolUse, ...] = ()
    finish: str = ""

    @property
    def finish_reason(self) -> str:
        return self.finish or ("tool_calls" if self.tool_calls else "stop")


@dataclass(frozen=True)
class Usage:
    """Token usage; a token counts as four characters."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int

    def as_json(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }


def read_call(body: bytes) -> ChatCall:
    """Parse a request body; raises BadRequest with a text for the caller."""
    try:
        data = json.loads(body)
    except ValueError as error:
        raise BadRequest(f"The body is not JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("messages"), list) or not data["messages"]:
        raise BadRequest("`messages` must be a list with at least one message.")
    if not all(isinstance(message, dict) for message in data["messages"]):
        raise BadRequest("Each of `messages` must be an object.")
    name, schema = _schema(data.get("response_format"))
    return ChatCall(
        model=str(data.get("model") or "offline-large"),
        messages=[(str(m.get("role", "user")), text_of(m.get("content"))) for m in data["messages"]],
        stream=bool(data.get("stream")),
        include_usage=bool((data.get("stream_options") or {}).get("include_usage")),
        schema_name=name,
        schema=schema,
        tools=tuple(_tools(data.get("tools"))) if data.get("tool_choice") != "none" else (),
        answered_tools=tuple(_called_names(data["messages"])),
        pictures=sum(map(_pictures_in, data["messages"])),
    )


def _pictures_in(message: dict[str, Any]) -> int:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return sum(isinstance(part, dict) and part.get("type") == "image_url" for part in parts)


def text_of(content: Any) -> str:
    """The text of a message's content, which may be a string, a list of parts, or null."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def _schema(response_format: Any) -> tuple[str, dict[str, Any] | None]:
    if not isinstance(response_format, dict):
        return "", None
    if response_format.get("type") == "json_object":
        return "", {"type": "object"}
    wrapped = response_format.get("json_schema")
    if not isinstance(wrapped, dict):
        return "", None
    schema = wrapped.get("schema")
    return str(wrapped.get("name", "")), schema if isinstance(schema, dict) else {"type": "object"}


def _tools(tools: Any) -> list[Tool]:
    functions = [t.get("function") for t in tools or () if isinstance(t, dict)]
    return [
        Tool(str(f.get("name", "")), str(f.get("description") or ""), f.get("parameters") or {})
        for f in functions
        if isinstance(f, dict)
    ]


def _called_names(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Names of the tools that were called after the last user message."""
    last = max((i for i, m in enumerate(messages) if m.get("role") == "user"), default=-1)
    calls = [call for m in messages[last + 1 :] for call in m.get("tool_calls") or ()]
    return [str(call.get("function", {}).get("name", "")) for call in calls if isinstance(call, dict)]


def dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def error_body(message: str, *, code: str, kind: str = "invalid_request_error") -> bytes:
    """An error in OpenAI's shape."""
    return dump({"error": {"message": message, "type": kind, "param": None, "code": code}})


def pieces_of(text: str) -> list[str]:
    """The tokens a text is streamed in: words for prose, sixteen characters for JSON."""
    if text[:1] in "{[":
        return [text[i : i + 16] for i in range(0, len(text), 16)]
    return PIECE.findall(text)


@dataclass(frozen=True)
class Envelope:
    """Fields shared by every chunk of one response."""

    number: int
    model: str
    created: int = field(default_factory=lambda: int(time.time()))

    @property
    def head(self) -> bytes:
        return b'{"id":"chatcmpl-offline-%d","object":"chat.completion.chunk","created":%d,"model":%b,' % (
            self.number,
            self.created,
            dump(self.model),
        )


def completion(answer: Answer, *, envelope: Envelope, usage: Usage) -> bytes:
    """The body of an answer that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None}
    if answer.tool_calls:
        message["tool_calls"] = [_tool_call(envelope, i, use) for i, use in enumerate(answer.tool_calls)]
    elif not answer.text:
        message["content"] = ""
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish_reason}
    head = {"id": f"chatcmpl-offline-{envelope.number}", "object": "chat.completion", "created": envelope.created}
    return dump({**head, "model": envelope.model, "choices": [choice], "usage": usage.as_json()})


def _tool_call(envelope: Envelope, index: int, use: ToolUse) -> dict[str, Any]:
    function = {"name": use.name, "arguments": use.arguments_text}
    return {"id": f"call_{envelope.number}_{index}", "type": "function", "function": function}


def token_chunks(answer: Answer, *, envelope: Envelope) -> list[bytes]:
    """The server-sent events that carry the answer, one per token, without the end."""
    head = b"data: " + envelope.head + b'"choices":[{"index":0,"delta":'
    tail = b',"logprobs":null,"finish_reason":null}]}\n\n'
    chunks = [head + b'{"content":' + dump(piece) + b"}" + tail for piece in pieces_of(answer.text)]
    for index, use in enumerate(answer.tool_calls):
        chunks += [head + dump({"tool_calls": [part]}) + tail for part in _tool_parts(envelope, index, use)]
    opening = head + b'{"role":"assistant","content":""}' + tail
    return [opening + chunks[0], *chunks[1:]] if chunks else [opening]


def _tool_parts(envelope: Envelope, index: int, use: ToolUse) -> list[dict[str, Any]]:
    whole = _tool_call(envelope, index, use)
    arguments = whole["function"]["arguments"]
    first = {"index": index, **whole, "function": {"name": use.name, "arguments": ""}}
    cuts = [arguments[i : i + 16] for i in range(0, len(arguments), 16)]
    return [first, *({"index": index, "function": {"arguments": cut}} for cut in cuts)]


def end_chunk(finish: str, *, envelope: Envelope, usage: Usage | None) -> bytes:
    """The last events of a stream: finish reason, usage if it was asked for, the end mark."""
    end = b"data: " + envelope.head + b'"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":'
    end += dump(finish) + b"}]}\n\n"
    if usage is not None:
        end += b"data: " + envelope.head + b'"choices":[],"usage":' + dump(usage.as_json()) + b"}\n\n"
    return end + b"data: [DONE]\n\n"
