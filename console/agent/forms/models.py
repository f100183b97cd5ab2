"""Models: one per task, and the model server."""

from __future__ import annotations

from typing import Any, get_args

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


def read(entries: Node) -> dict[str, Any]:
    models = part_of(entries, "models")
    own = {skill: text_of(part_of(models, skill), "name") for skill in SKILLS if _is_own(models, skill)}
    return {
        "models": own,
        "model_base_url": text_of(entries, "model_base_url").rstrip("/"),
        "transcription_model": text_of(entries, "transcription_model"),
    }


def show(document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
    return {
        "skills": [_skill(fields, skill, document["models"]) for skill in SKILLS],
        "model_base_url": fields.field("model_base_url", document["model_base_url"]),
        "transcription_model": fields.field("transcription_model", document["transcription_model"]),
        "key_error": fields.error("model_api_key"),
    }


def _is_own(models: Node, skill: Skill) -> bool:
    return text_of(part_of(models, skill), "use") == OWN


def _skill(fields: FormFields, skill: Skill, models: dict[str, str]) -> dict[str, Any]:
    title, purpose = NAMES[skill]
    return {
        "skill": skill,
        "title": title,
        "purpose": purpose,
        "default": default_model(skill),
        "is_own": skill in models,
        "name": fields.field(f"models.{skill}", models.get(skill, "")),
    }
