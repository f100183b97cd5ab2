"""The words of a call, reported once they were heard, in the order they were said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conversations.voice.reports import Report, ReportType

# Spoken characters per second, to find out how much of an interrupted sentence was heard: the provider says only how
# long it was played.
CHARACTERS_PER_SECOND = 15
CUT = " —"
# Reports of the caller's speech are known by the item that its words will be.
SPEECH, SILENCE = "speech:", "silence:"
LONGEST = 8_000


@dataclass
class Transcript:
    """Words that were said and not reported yet.

    The agent's words wait until they were played, and until the caller's words before them are transcribed. `speaking`
    is true while the caller speaks, `playing` while the agent is heard.
    """

    speaking: bool = False
    playing: bool = False
    heard: str = ""
    _untranscribed: set[str] = field(default_factory=set)
    _said: dict[str, str] = field(default_factory=dict)
    _played: list[Report] = field(default_factory=list)

    def take(self, event: Mapping[str, Any]) -> list[Report]:
        """The reports that this event of the session makes due."""
        handler = _HANDLERS.get(event["type"])
        return handler(self, event) if handler is not None else []

    def take_rest(self) -> list[Report]:
        """Everything that is left when the call is over. What was never played was not heard."""
        self._untranscribed.clear()
        return self._due()

    def _on_speech_started(self, event: Mapping[str, Any]) -> list[Report]:
        self.speaking = True
        return [Report(f"{SPEECH}{_speech(event)}", ReportType.SPEECH_STARTED)]

    def _on_speech_stopped(self, event: Mapping[str, Any]) -> list[Report]:
        self.speaking = False
        return [Report(f"{SILENCE}{_speech(event)}", ReportType.SPEECH_STOPPED)]

    def _on_committed(self, event: Mapping[str, Any]) -> list[Report]:
        self._untranscribed.add(_id(event, "item_id"))
        return []

    def _on_transcribed(self, event: Mapping[str, Any]) -> list[Report]:
        item, text = _id(event, "item_id"), str(event.get("transcript") or "").strip()[:LONGEST]
        self._untranscribed.discard(item)
        if text:
            self.heard = f"{self.heard} {text}".strip()[-2_000:]
        words = [Report(item, ReportType.CALLER_SAID, text=text)] if text else []
        return [*words, *self._due()]

    def _on_said(self, event: Mapping[str, Any]) -> list[Report]:
        self._said[_id(event, "item_id")] = str(event.get("transcript") or "").strip()[:LONGEST]
        return []

    def _on_playing(self, event: Mapping[str, Any]) -> list[Report]:
        self.playing = True
        return []

    def _on_played(self, event: Mapping[str, Any]) -> list[Report]:
        self.playing = False
        for item, text in self._said.items():
            if text:
                self._played.append(Report(item, ReportType.AGENT_SAID, text=text))
        self._said.clear()
        return self._due()

    def _on_truncated(self, event: Mapping[str, Any]) -> list[Report]:
        """The caller interrupted: only what was played was said."""
        item = _id(event, "item_id")
        text = self._said.get(item, "")
        self._said[item] = heard_part(text, seconds=float(event.get("audio_end_ms") or 0) / 1000)
        return self._on_played(event)

    def _due(self) -> list[Report]:
        if self._untranscribed:
            return []
        due, self._played = self._played, []
        return due


def heard_part(text: str, *, seconds: float) -> str:
    """The words of a text that were heard in this time; empty if none was."""
    most = int(seconds * CHARACTERS_PER_SECOND)
    if most >= len(text):
        return text
    heard = text[:most].rpartition(" ")[0]
    return f"{heard}{CUT}" if heard else ""


def _speech(event: Mapping[str, Any]) -> str:
    return (_id(event, "item_id") or _id(event, "event_id"))[:180]


def _id(event: Mapping[str, Any], name: str) -> str:
    return str(event.get(name) or "")[:200]


_HANDLERS = {
    "input_audio_buffer.speech_started": Transcript._on_speech_started,
    "input_audio_buffer.speech_stopped": Transcript._on_speech_stopped,
    "input_audio_buffer.committed": Transcript._on_committed,
    "conversation.item.input_audio_transcription.completed": Transcript._on_transcribed,
    "conversation.item.input_audio_transcription.failed": Transcript._on_transcribed,
    "response.output_audio_transcript.done": Transcript._on_said,
    "output_audio_buffer.started": Transcript._on_playing,
    "output_audio_buffer.stopped": Transcript._on_played,
    "conversation.item.truncated": Transcript._on_truncated,
}
