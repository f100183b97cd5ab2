"""Builds the request body of Chat Completions."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llm.features import Features
from llm.types import Picture
from llm.without_tools import messages_without_tools

UNSEEN = "The customer’s pictures can’t be shown to you. Don’t guess what they show."


@dataclass(frozen=True)
class OutputSchema:
    """The JSON schema of a structured answer, and the name that providers see.

    `is_strict` means that every property is required and none may be added. Providers can enforce only such a schema.
    """

    name: str
    schema: dict[str, Any]
    is_strict: bool = True


@dataclass(frozen=True, kw_only=True)
class WireRequest:
    """A request before it is adapted to the features of its endpoint."""

    model: str
    messages: list[dict[str, Any]]
    pictures: Sequence[Picture] = ()
    system_without_tools: str = ""
    tools: Sequence[dict[str, Any]] = ()
    may_call: bool = True
    is_streamed: bool = False
    schema: OutputSchema | None = None
    max_output_tokens: int | None = None

    @property
    def tool_names(self) -> frozenset[str]:
        return frozenset(str(tool.get("function", {}).get("name")) for tool in self.tools)


def body_of(request: WireRequest, *, features: Features, sees: bool) -> dict[str, Any]:
    """The JSON body of the request. If the model doesn't see (`sees`), it is told that there are pictures."""
    messages = _messages(request, features=features)
    if request.pictures:
        messages = _with_pictures(messages, request.pictures if sees and features.pictures else ())
    body: dict[str, Any] = {"model": request.model, "messages": messages}
    if request.tools and features.tools:
        body["tools"] = list(request.tools)
        if not request.may_call:
            body["tool_choice"] = "none"
    if request.schema and features.json_schema:
        body["response_format"] = _response_format(request.schema)
    if request.max_output_tokens is not None and features.tokens_parameter:
        body[features.tokens_parameter] = request.max_output_tokens
    if request.is_streamed:
        body["stream"] = True
        if features.stream_options:
            body["stream_options"] = {"include_usage": True}
    return body


def _response_format(schema: OutputSchema) -> dict[str, Any]:
    described = {"name": schema.name, "strict": schema.is_strict, "schema": schema.schema}
    return {"type": "json_schema", "json_schema": described}


def unseen_pictures(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with a note that their pictures can't be shown."""
    return _with_pictures(messages, ())


def _with_pictures(messages: Sequence[dict[str, Any]], pictures: Sequence[Picture]) -> list[dict[str, Any]]:
    """The messages with the pictures in the last one of the role `user`, or with a note in place of them."""
    place = max(number for number, message in enumerate(messages) if message["role"] == "user")
    last = messages[place]
    if not pictures:
        told = {**last, "content": f"{last['content']}\n\n{UNSEEN}"}
    else:
        told = {**last, "content": [{"type": "text", "text": last["content"]}, *map(_picture, pictures)]}
    return [*messages[:place], told, *messages[place + 1 :]]


def _picture(picture: Picture) -> dict[str, Any]:
    url = f"data:{picture.content_type};base64,{b64encode(picture.content).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _messages(request: WireRequest, *, features: Features) -> list[dict[str, Any]]:
    if request.tools and not features.tools:
        return messages_without_tools(request.messages, system=request.system_without_tools)
    if request.schema is None or features.json_schema:
        return request.messages
    rule = "Answer with one JSON object that fits this JSON schema, and with nothing else:\n" + json.dumps(
        request.schema.schema, ensure_ascii=False
    )
    first, *rest = request.messages
    if first.get("role") == "system" and isinstance(first.get("content"), str):
        return [{**first, "content": f"{first['content']}\n\n{rule}"}, *rest]
    return [{"role": "system", "content": rule}, *request.messages]
