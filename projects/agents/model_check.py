"""A test call to a model."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext

from llm.client import Client
from llm.errors import LlmError
from llm.types import CallRecord, ChatRequest, Deadlines, ModelSpec
from projects.agents.request_client import with_model_client

DEADLINES = Deadlines(first_token_s=20.0, total_s=20.0)
QUESTION = "Say the word ready."
# Enough for a reasoning model.
MAX_OUTPUT_TOKENS = 256


@dataclass(frozen=True)
class ModelCheck:
    """The result of a test call, as a sentence."""

    is_ok: bool
    sentence: str


async def check_model(model: ModelSpec) -> ModelCheck:
    """Make a test call. Can take 20 seconds, so no transaction may be open."""
    return await with_model_client(lambda client: _ask(client, model))


async def _ask(client: Client, model: ModelSpec) -> ModelCheck:
    try:
        completion = await client.stream(_request(model), on_text=_ignore_text, record=_ignore_record)
    except LlmError as error:
        return ModelCheck(False, gettext("%(model)s didn’t answer. %(error)s") % {"model": model.model, "error": error})
    numbers = {"model": model.model, "time": number_format(completion.total_ms / 1000, 2)}
    if not completion.first_token_ms:
        return ModelCheck(True, gettext("%(model)s answered in %(time)s s.") % numbers)
    sentence = gettext("%(model)s answered in %(time)s s, the first word after %(first)s s.")
    return ModelCheck(True, sentence % {**numbers, "first": number_format(completion.first_token_ms / 1000, 2)})


def _request(model: ModelSpec) -> ChatRequest:
    return ChatRequest(
        skill="test",
        template_hash="",
        model=model,
        messages=[{"role": "user", "content": QUESTION}],
        deadlines=DEADLINES,
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )


def _ignore_text(text: str) -> None:
    """The text of the completion is not needed."""


def _ignore_record(record: CallRecord) -> None:
    """A test call belongs to no conversation, so it is not stored."""
