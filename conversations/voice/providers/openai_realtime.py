"""OpenAI's Realtime API."""

from __future__ import annotations

from typing import Any

from conversations.voice.providers.provider import Provider
from projects.agents.voice_settings import VoiceSettings

MODEL, VOICE, TRANSCRIPTION = "gpt-realtime", "marin", "gpt-4o-mini-transcribe"


def session(instructions: str, tools: list[dict[str, Any]], voice: VoiceSettings) -> dict[str, Any]:
    """The session as `calls.accept` and `session.update` take it."""
    transcription = {"model": TRANSCRIPTION, **({"language": voice.language} if voice.language else {})}
    reduction = None if voice.noise_reduction == "off" else {"type": voice.noise_reduction}
    return {
        "type": "realtime",
        "model": voice.model or MODEL,
        "instructions": instructions,
        "tools": tools,
        "tool_choice": "auto",
        "output_modalities": ["audio"],
        "audio": {
            "input": {
                "transcription": transcription,
                "noise_reduction": reduction,
                "turn_detection": {
                    "type": voice.turn_detection,
                    "create_response": True,
                    "interrupt_response": True,
                },
            },
            "output": {"voice": voice.name or VOICE, "speed": voice.speed},
        },
    }


PROVIDER = Provider(tools=lambda offer: offer.realtime_functions, session=session)
