"""Which model answers which skill of a project."""

from __future__ import annotations

from django.conf import settings

from llm.types import Endpoint, ModelSpec
from projects.agent import AgentConfig, Skill
from projects.attributes import read_secret
from projects.models import Project

FAST_SKILLS: frozenset[Skill] = frozenset({"observer", "detect"})
KEY_ATTRIBUTE = "model_api_key"


def model_for(project: Project, config: AgentConfig, skill: Skill) -> ModelSpec:
    """The project's own model for the skill, else the operator's. Inside a transaction: it may read a secret."""
    default = settings.FAST_MODEL if skill in FAST_SKILLS else settings.MODEL
    return ModelSpec(endpoint=_endpoint(project, config), model=config.models.get(skill, default))


def _endpoint(project: Project, config: AgentConfig) -> Endpoint:
    if config.model_base_url:
        key = read_secret(project, KEY_ATTRIBUTE) or ""
        return Endpoint(base_url=config.model_base_url, api_key=key, trusted=False)
    return Endpoint(base_url=settings.OPENAI_BASE_URL, api_key=settings.OPENAI_API_KEY or "none", trusted=True)
