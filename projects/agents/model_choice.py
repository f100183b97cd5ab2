"""The model and endpoint of each skill."""

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
    "The stored API key of the project's own model can't be decrypted, because this server's encryption key has changed. "
    "Enter it again under Configuration, Models."
)


def model_for(project: Project, config: AgentConfig, skill: Skill) -> ModelSpec:
    """The project's model for a skill, or the operator's. Must run in a transaction, because it may read a secret."""
    return model_at(endpoint_of(project, config), config, skill)


def model_at(endpoint: Endpoint, config: AgentConfig, skill: Skill) -> ModelSpec:
    """The skill's model at the project's endpoint."""
    return ModelSpec(endpoint=endpoint, model=config.models.get(skill, default_model(skill)))


def default_model(skill: Skill) -> str:
    """The operator's model for the skill."""
    return str(settings.FAST_MODEL if skill in FAST_SKILLS else settings.MODEL)


def operator_endpoint() -> Endpoint:
    """The operator's endpoint."""
    return Endpoint(base_url=settings.OPENAI_BASE_URL, api_key=settings.OPENAI_API_KEY or "none", trusted=True)


def own_endpoint(base_url: str, *, key: str) -> Endpoint:
    """A project's own endpoint, reached through the outbound guard."""
    return Endpoint(base_url=base_url, api_key=key, trusted=False)


def endpoint_of(project: Project, config: AgentConfig) -> Endpoint:
    """The project's endpoint, or a closed one if its key can't be read. Must run in a transaction: it may read a
    secret.
    """
    if not config.model_base_url:
        return operator_endpoint()
    try:
        return own_endpoint(config.model_base_url, key=read_secret(project, KEY_ATTRIBUTE) or "")
    except WrongSecret:
        # Not an error yet: work that calls no model needs no key.
        return Endpoint(config.model_base_url, closed=UNREADABLE_KEY)
