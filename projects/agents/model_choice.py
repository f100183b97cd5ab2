"""Which model answers which skill of a project."""

from __future__ import annotations

from django.conf import settings

from llm.types import Endpoint, ModelSpec
from projects.common.crypto import WrongSecret
from projects.models import Project
from projects.models.agent_config import AgentConfig, Skill
from projects.records.attributes import MODEL_KEY, read_secret

FAST_SKILLS: frozenset[Skill] = frozenset({"observer", "detect", "summary"})
KEY_ATTRIBUTE = MODEL_KEY
UNREADABLE_KEY = (
    "The stored key of the project's own model server can't be read any more: it was encrypted with a key that this server "
    "doesn't have. Write it again under Configuration, Models."
)


def model_for(project: Project, config: AgentConfig, skill: Skill) -> ModelSpec:
    """The project's own model for the skill, else the operator's. Inside a transaction: it may read a secret."""
    return model_at(endpoint_of(project, config), config, skill)


def model_at(endpoint: Endpoint, config: AgentConfig, skill: Skill) -> ModelSpec:
    """The skill's model, where the project's models answer."""
    return ModelSpec(endpoint=endpoint, model=config.models.get(skill, default_model(skill)))


def default_model(skill: Skill) -> str:
    """The operator's model for the skill."""
    return str(settings.FAST_MODEL if skill in FAST_SKILLS else settings.MODEL)


def operator_endpoint() -> Endpoint:
    """Where the operator's models answer."""
    return Endpoint(base_url=settings.OPENAI_BASE_URL, api_key=settings.OPENAI_API_KEY or "none", trusted=True)


def own_endpoint(base_url: str, *, key: str) -> Endpoint:
    """Where a project's own models answer; reached through the outbound guard."""
    return Endpoint(base_url=base_url, api_key=key, trusted=False)


def endpoint_of(project: Project, config: AgentConfig) -> Endpoint:
    """Where the project's models answer; closed where its key can't be read. Inside a transaction: it may read a secret."""
    if not config.model_base_url:
        return operator_endpoint()
    try:
        return own_endpoint(config.model_base_url, key=read_secret(project, KEY_ATTRIBUTE) or "")
    except WrongSecret:
        # Here nothing fails yet: what asks no model needs no key
        return Endpoint(config.model_base_url, closed=UNREADABLE_KEY)
