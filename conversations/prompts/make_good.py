"""The make-good skill: a draft correction and next step for a broken promise, for staff to approve."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from conversations.common.prompt_shapes import Fact, Line
from llm.requests import structured_request
from llm.types import ChatRequest, ModelSpec
from projects.models.agent_config import Skill

SKILL = "make_good"
# Uses the extraction model, so that tenants configure one model for both.
MODEL_OF: Skill = "extract"
MAX_OUTPUT_TOKENS = 800


class MakeGood(BaseModel):
    """A correction and the next step for a broken promise."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    correction: str
    """What the customer is told, in their language."""
    next_step: str
    """What is done next, one sentence."""


@dataclass(frozen=True)
class MakeGoodContext:
    """Variables of templates/prompts/make_good. `language` is the customer's, if known."""

    business_name: str
    business_context: str
    language: str
    now: str
    day: str
    quote: str
    reason: str
    known: list[Fact]
    summary: str
    messages: list[Line]


def build_request(context: MakeGoodContext, *, model: ModelSpec) -> ChatRequest:
    """The request for the draft of one broken promise."""
    return structured_request(SKILL, context, model=model, max_output_tokens=MAX_OUTPUT_TOKENS)
