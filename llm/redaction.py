"""Masks API keys in the responses of model endpoints."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from llm.types import ToolCall

MASK = "[redacted]"
# A shorter "key" is a placeholder ("none", "EMPTY", "ollama") and often an ordinary word
SHORTEST_SECRET = 8


class Redactor:
    """Masks one key in every form that a server may echo: plain, URL-encoded, base64."""

    def __init__(self, key: str) -> None:
        self._forms: tuple[str, ...] = ()
        # The key is sent without surrounding blanks
        key = key.strip()
        if len(key) >= SHORTEST_SECRET:
            encoded = base64.b64encode(key.encode()).decode()
            self._forms = tuple({key, quote(key, safe=""), encoded, encoded.rstrip("=")})

    def text(self, text: str) -> str:
        for form in sorted(self._forms, key=len, reverse=True):
            if form in text:
                text = text.replace(form, MASK)
        return text

    def tree(self, value: Any) -> Any:
        """A JSON value with every string redacted. Returns the same object if there is nothing to redact."""
        if not self._forms:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.tree(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.tree(item) for item in value]
        return value

    def call(self, call: ToolCall) -> ToolCall:
        return replace(call, name=self.text(call.name), arguments_json=self.text(call.arguments_json))
