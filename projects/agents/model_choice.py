"""The model and endpoint of each skill."""

from __future__ import annotations

from django.conf import settings

from llm.types import Endpoint, ModelSpec
from outbound.origin import is_same_server
from projects.common.crypto import WrongSecret
from projects.common.translation import lazy
from projects.models import Project
from projects.models.agent_config import AgentConfig, Skill
from projects.records.attributes import DRAFT_MODEL_KEY, MODEL_KEY, read_secret

FAST_SKILLS: frozenset[Skill] = frozenset({"observer", "detect", "summary"})
KEY_ATTRIBUTE = MODEL_KEY
DRAFT_KEY_ATTRIBUTE = DRAFT_MODEL_KEY
KEY_ATTRIBUTES = frozenset({KEY_ATTRIBUTE, DRAFT_KEY_ATTRIBUTE})
UNREADABLE_KEY = lazy(
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
        return own_endpoint(config.model_base_url, key=read_secret(project, _attribute_of(project, config)) or "")
    except WrongSecret:
        # Not an error yet: work that calls no model needs no key.
        return Endpoint(config.model_base_url, closed=UNREADABLE_KEY)


def key_attribute(project: Project, url: str) -> str:
    """The attribute that holds the key for an address: the published one's, or that of a draft on another server."""
    return KEY_ATTRIBUTE if is_same_server(url, published_url(project)) else DRAFT_KEY_ATTRIBUTE


def published_url(project: Project) -> str:
    """The address of the published settings' own model; empty for the operator's."""
    version = Project.objects.select_related("agent_version").get(pk=project.pk).agent_version
    return str(version.document.get("model_base_url", "")) if version else ""


def _attribute_of(project: Project, config: AgentConfig) -> str:
    is_draft = project.agent_version is not None and project.agent_version.is_draft
    return key_attribute(project, config.model_base_url) if is_draft else KEY_ATTRIBUTE
