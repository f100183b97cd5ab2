"""Transcripts of customers' voice messages, by a model of the project's own choice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from conversations.channels.items import RemoteFile, clean_text
from conversations.common.file_lines import AUDIO, VOICE
from conversations.handover.file_types import safe_name
from conversations.handover.media_types import detect_media, seconds_of
from jobs.model_client import model_client
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec, Recording
from projects.agents.model_choice import endpoint_of
from projects.models import Project
from tools.engine.limits.model_budget import find_spent_budget

log = logging.getLogger(__name__)

OnRecord = Callable[[CallRecord], object]
SPOKEN = (VOICE, AUDIO)
# The reply waits for it, not longer than for a file.
DEADLINE_S = 15.0
LONGEST = 4_000


def find_transcriber(project: Project, files: Iterable[RemoteFile]) -> ModelSpec | None:
    """The model that transcribes these files; None if the project has chosen none, or has spent its budget."""
    config = project.agent_version.config if project.agent_version else None
    if config is None or not config.transcription_model or not any(file.label in SPOKEN for file in files):
        return None
    if find_spent_budget(project):
        return None
    return ModelSpec(endpoint_of(project, config), config.transcription_model)


async def transcribe(model: ModelSpec, file: RemoteFile, content: bytes, *, record: OnRecord) -> str:
    """The words of a file; empty if it has none, or if the model didn't answer. No transaction may be open."""
    kind = detect_media(content) if file.label in SPOKEN else None
    if kind is None:
        return ""
    try:
        recording = Recording(safe_name(file.name, kind), kind, content, seconds=seconds_of(content) or 0)
        words = await model_client().transcribe(model, recording, deadline_s=DEADLINE_S, record=record)
        return clean_text(words)[:LONGEST]
    except LlmError as error:
        log.warning("A voice message was not transcribed: %s.", error.code)
        return ""
