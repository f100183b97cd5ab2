"""Models: one per task, and the model server."""

from __future__ import annotations

from collections import Counter
from typing import Any, get_args

from django.conf import settings
from django.utils.translation import gettext

from console.agent.form_fields import FormFields
from console.agent.nested_form_data import Node, part_of, text_of
from projects.agents.model_choice import default_model
from projects.common.translation import lazy
from projects.models.agent_config import Skill

SKILLS: tuple[Skill, ...] = get_args(Skill)
NAMES: dict[Skill, tuple[str, str]] = {
    "reply": (lazy("Reply"), lazy("Writes replies to the customer.")),
    "thoughts": (lazy("Thoughts"), lazy("Plans ahead between turns and writes directives.")),
    "observer": (lazy("Observer"), lazy("Records customer details and quality.")),
    "detect": (lazy("Tool caller"), lazy("Detects promises in replies.")),
    "arguments": (lazy("Arguments"), lazy("Extracts tool arguments from the conversation.")),
    "summary": (lazy("Summary"), lazy("Shortens long conversations for the prompt.")),
    "extract": (lazy("Extraction"), lazy("Finds open todos when a conversation ends.")),
    "execute": (lazy("Todos"), lazy("Executes approved todos.")),
}
OWN, DEFAULT = "own", "default"
# The form's model of all tasks without one of their own. The document names the model of each task.
SHARED = "shared_model"


def read(entries: Node) -> dict[str, Any]:
    models, shared = part_of(entries, "models"), text_of(entries, SHARED)
    chosen = {skill: text_of(part_of(models, skill), "name") if _is_own(models, skill) else shared for skill in SKILLS}
    return {
        "models": {skill: name for skill, name in chosen.items() if name or _is_own(models, skill)},
        "model_base_url": text_of(entries, "model_base_url").rstrip("/"),
        "transcription_model": text_of(entries, "transcription_model"),
    }


def problems(changes: dict[str, Any]) -> dict[str, str]:
    """Reject a server of the project's own without models: the offline model's names exist nowhere else."""
    if settings.OFFLINE_MODEL and changes["model_base_url"] and len(changes["models"]) < len(SKILLS):
        return {SHARED: gettext("Enter the name of a model on this server, such as gpt-4.1.")}
    return {}


def show(document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
    shared = _shared(document["models"])
    return {
        "shared_model": fields.field(SHARED, shared),
        "skills": [_skill(fields, skill, document["models"], shared=shared) for skill in SKILLS],
        "model_base_url": fields.field("model_base_url", document["model_base_url"]),
        "transcription_model": fields.field("transcription_model", document["transcription_model"]),
        "key_error": fields.error("model_api_key"),
    }


def _is_own(models: Node, skill: Skill) -> bool:
    return text_of(part_of(models, skill), "use") == OWN


def _shared(models: dict[str, str]) -> str:
    """The model of most tasks, if every task has one: the others are exceptions."""
    return Counter(models[skill] for skill in SKILLS).most_common(1)[0][0] if len(models) == len(SKILLS) else ""


def _skill(fields: FormFields, skill: Skill, models: dict[str, str], *, shared: str) -> dict[str, Any]:
    is_own = skill in models and models[skill] != shared
    title, purpose = NAMES[skill]
    return {
        "skill": skill,
        "title": title,
        "purpose": purpose,
        "default": shared or default_model(skill),
        "is_own": is_own,
        "name": fields.field(f"models.{skill}", models[skill] if is_own else ""),
    }
