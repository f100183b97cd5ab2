"""Which model does which work, at which address."""

from __future__ import annotations

from typing import Any, get_args

from console.agent.form_fields import Boxes
from console.agent.nested_form_data import Node, part_of, text_of
from projects.agents.model_choice import default_model
from projects.models.agent_config import Skill

SKILLS: tuple[Skill, ...] = get_args(Skill)
NAMES: dict[Skill, tuple[str, str]] = {
    "reply": ("Reply", "Writes what the customer reads."),
    "thoughts": ("Thoughts", "Thinks ahead between turns, and writes the directives."),
    "observer": ("Observer", "Notes who the customer is, and how it goes."),
    "detect": ("Tool caller", "Finds what was promised, and whether it holds."),
    "arguments": ("Arguments", "Reads off the conversation what a tool needs."),
    "summary": ("Summary", "Keeps a long conversation short enough for the prompt."),
    "extract": ("Extraction", "Finds what is left to be done when a conversation ends."),
    "execute": ("Todos", "Carries out approved todos, with the tools of their type."),
}
OWN, DEFAULT = "own", "default"


def read(entries: Node) -> dict[str, Any]:
    models = part_of(entries, "models")
    own = {skill: text_of(part_of(models, skill), "name") for skill in SKILLS if _is_own(models, skill)}
    return {"models": own, "model_base_url": text_of(entries, "model_base_url").rstrip("/")}


def show(document: dict[str, Any], boxes: Boxes) -> dict[str, Any]:
    return {
        "skills": [_skill(boxes, skill, document["models"]) for skill in SKILLS],
        "model_base_url": boxes.box("model_base_url", document["model_base_url"]),
        "key_error": boxes.error("model_api_key"),
    }


def _is_own(models: Node, skill: Skill) -> bool:
    return text_of(part_of(models, skill), "use") == OWN


def _skill(boxes: Boxes, skill: Skill, models: dict[str, str]) -> dict[str, Any]:
    title, purpose = NAMES[skill]
    return {
        "skill": skill,
        "title": title,
        "purpose": purpose,
        "default": default_model(skill),
        "is_own": skill in models,
        "name": boxes.box(f"models.{skill}", models.get(skill, "")),
    }
