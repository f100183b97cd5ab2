"""The make-good skill: what to tell a customer whose promise broke, and what to do next, for a colleague to approve (D16)."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from conversations.common.prompt_shapes import Fact, Line
from llm.requests import structured_request
from llm.types import ChatRequest, ModelSpec
from projects.models.agent_config import Skill

SKILL = "make_good"
# What finds todos drafts this one too: a tenant names the model once.
MODEL_OF: Skill = "extract"
MAX_OUTPUT_TOKENS = 800


class MakeGood(BaseModel):
    """How a broken promise is put right."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    correction: str
    """What the customer is told, in their language."""
    next_step: str
    """What is done next, one sentence."""


@dataclass(frozen=True)
class MakeGoodContext:
    """The variables of templates/prompts/make_good. `language` is the customer's, where it is known."""

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
