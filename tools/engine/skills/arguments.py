"""The arguments skill: an object extracted from the conversation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from llm.client import Client
from llm.requests import Recorder, structured_request
from llm.types import ChatRequest, ModelSpec
from tools.engine.skills.detect import TranscriptLine

SKILL: Literal["arguments"] = "arguments"
MAX_OUTPUT_TOKENS = 2_000
# A tenant's JSON Schema, or one of our models.
Schema = Mapping[str, Any] | type[BaseModel]


@dataclass(frozen=True)
class KnownFact:
    """One known fact about the customer."""

    field: str
    value: str


@dataclass(frozen=True)
class ExtractionContext:
    """The context an object is extracted from: business, customer, time, and the conversation up to the agent's answer.

    `earlier` describes what tools have done in it so far, `summary` what was said before `messages`.
    """

    business_name: str
    business_context: str
    now: str
    known: list[KnownFact]
    messages: list[TranscriptLine]
    summary: str = ""
    earlier: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ArgumentsContext:
    """Variables of templates/prompts/arguments.

    `task` is the purpose of the object, `material` the input besides the conversation.
    """

    business_name: str
    business_context: str
    task: str
    now: str
    quote: str
    known: list[KnownFact]
    earlier: list[str]
    material: str
    summary: str
    messages: list[TranscriptLine]


async def generate_object_by_schema(
    client: Client,
    model: ModelSpec,
    *,
    schema: Schema,
    task: str,
    extraction_context: ExtractionContext,
    record: Recorder,
    quote: str = "",
    material: str = "",
) -> dict[str, Any]:
    """Extract an object that fits the schema, validated. Raises LlmError."""
    context = ArgumentsContext(
        task=task,
        quote=quote,
        material=material,
        **{name: getattr(extraction_context, name) for name in ExtractionContext.__dataclass_fields__},
    )
    request: ChatRequest = structured_request(SKILL, context, model=model, max_output_tokens=MAX_OUTPUT_TOKENS)
    if isinstance(schema, type):
        found = await client.structured(request, output=schema, record=record)
        return found.model_dump(mode="json")
    return await client.object(request, schema=dict(schema), record=record)
