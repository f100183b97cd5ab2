"""Transcriptions: a recording's words, recorded as any other model call."""

from __future__ import annotations

from dataclasses import replace

from llm.call import Call
from llm.completion_builder import storable
from llm.prices import transcription_cost_usd
from llm.transcript import Transcript
from llm.types import CallRecord, Recording


class TranscriptionCall(Call):
    """A call that is asked once. Its record holds the words, and nothing of the recording."""

    _transcript: Transcript | None = None

    async def transcribe(self, recording: Recording, *, deadline_s: float) -> str:
        """The words. Raises LlmError."""
        self._attempts = 1
        found = await self._sdk.transcribe(self._request.model, recording, deadline_s=deadline_s)
        self._usage = found.usage
        self._transcript = replace(found, seconds=found.seconds or recording.seconds)
        return found.text

    def _record(self, error_code: str | None) -> CallRecord:
        record, transcript = super()._record(error_code), self._transcript
        if transcript is None:
            return record
        cost = transcription_cost_usd(record.model, transcript, self._prices)
        return replace(record, output=self._redactor.text(storable(transcript.text)), cost_usd=cost)
