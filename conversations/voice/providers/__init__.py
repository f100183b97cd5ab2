"""Realtime providers. One is a module with a `Provider`: its session's form, and its form of tools."""

from __future__ import annotations

from collections.abc import Mapping

from conversations.voice.providers import gemini_live, openai_realtime
from conversations.voice.providers.provider import Provider

PROVIDERS: Mapping[str, Provider] = {"openai": openai_realtime.PROVIDER, "gemini": gemini_live.PROVIDER}

__all__ = ["PROVIDERS", "Provider"]
