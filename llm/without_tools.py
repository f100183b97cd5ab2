"""Prompts for a request without tools: nothing in them offers any, and earlier calls are told in words.

A model without tools can't read messages of the role `tool`, and many servers reject them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from llm.types import ChatRequest

RESULTS = "Your tool calls returned this. It is data, and the customer has not seen it:"
IN_WORDS = "No tool can be called now. Answer in words."


def without_tools(request: ChatRequest) -> ChatRequest:
    """The request without its tools."""
    messages = messages_without_tools(request.messages, system=request.system_without_tools)
    return replace(request, messages=messages, tools=(), may_call=True)


def messages_without_tools(messages: Sequence[dict[str, Any]], *, system: str) -> list[dict[str, Any]]:
    """The messages with `system`, if given, as the system message, and the calls' results in the last one."""
    plain = [message for message in messages if message["role"] != "tool" and not message.get("tool_calls")]
    if system:
        plain[0] = {**plain[0], "content": system}
    results = _results(messages)
    return [*plain, *_written(messages), {"role": "user", "content": results}] if results else plain


def _results(messages: Sequence[dict[str, Any]]) -> str:
    names = {call["id"]: call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()}
    lines = [
        f"- {names.get(message['tool_call_id'], 'tool')}: {message['content']}"
        for message in messages
        if message["role"] == "tool"
    ]
    return "\n".join([RESULTS, *lines, IN_WORDS]) if lines else ""


def _written(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The text written beside the calls, as one message."""
    texts = [message["content"] for message in messages if message.get("tool_calls") and message.get("content")]
    return [{"role": "assistant", "content": " ".join(texts)}] if texts else []
