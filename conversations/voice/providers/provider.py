"""The form of a realtime provider's session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from projects.agents.voice_settings import VoiceSettings
from tools.engine.function_calling.offer import Offer

Json = dict[str, Any]


@dataclass(frozen=True)
class Provider:
    """A realtime provider. `tools` are an offer's functions in its form; `session` is the whole configuration, from the
    instructions, the tools in that form, and the voice.
    """

    tools: Callable[[Offer], list[Json]]
    session: Callable[[str, list[Json], VoiceSettings], Json]
