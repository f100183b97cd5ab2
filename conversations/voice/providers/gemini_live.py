"""Google's Gemini Live API. Makegood has no connection of its own to it; a bridge can use this session."""

from __future__ import annotations

from typing import Any

from conversations.voice.providers.provider import Provider
from projects.agents.voice_settings import VoiceSettings

MODEL = "models/gemini-live-2.5-flash"


def session(instructions: str, tools: list[dict[str, Any]], voice: VoiceSettings) -> dict[str, Any]:
    """The `setup` message. The API has neither a speed nor a noise reduction."""
    speech: dict[str, Any] = {}
    if voice.name:
        speech["voiceConfig"] = {"prebuiltVoiceConfig": {"voiceName": voice.name}}
    if voice.language:
        speech["languageCode"] = voice.language
    return {
        "model": voice.model or MODEL,
        "systemInstruction": {"parts": [{"text": instructions}]},
        "tools": [{"functionDeclarations": tools}] if tools else [],
        "generationConfig": {"responseModalities": ["AUDIO"], **({"speechConfig": speech} if speech else {})},
        "inputAudioTranscription": {},
        "outputAudioTranscription": {},
    }


PROVIDER = Provider(tools=lambda offer: offer.declarations, session=session)
