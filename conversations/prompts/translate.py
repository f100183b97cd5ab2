"""The translate skill: messages of a conversation in another language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from llm.requests import structured_request
from llm.types import ChatRequest, Deadlines, ModelSpec
from projects.models.agent_config import Skill

SKILL = "translate"
# Like a summary, it needs no judgement.
MODEL_OF: Skill = "summary"
MAX_OUTPUT_TOKENS = 4_000
# Somebody waits for it.
DEADLINES = Deadlines(first_token_s=30.0, total_s=30.0)


class TranslatedText(BaseModel):
    """One translated message."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    number: int
    text: str


class Translated(BaseModel):
    """All messages, translated."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    texts: list[TranslatedText]


@dataclass(frozen=True)
class NumberedMessage:
    number: int
    content: str


@dataclass(frozen=True)
class TranslateContext:
    """Variables of templates/prompts/translate."""

    language: str
    messages: list[NumberedMessage]


def build_request(contents: Sequence[str], *, language: str, model: ModelSpec) -> ChatRequest:
    """The request to translate these messages, numbered from 1."""
    messages = [NumberedMessage(number, content) for number, content in enumerate(contents, 1)]
    context = TranslateContext(language, messages)
    return structured_request(
        SKILL, context, model=model, max_output_tokens=MAX_OUTPUT_TOKENS, stable=language, deadlines=DEADLINES
    )
