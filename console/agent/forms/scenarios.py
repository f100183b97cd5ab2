"""Scenarios with numbered steps."""

from __future__ import annotations

from typing import Any

from console.agent.form_fields import FormFields
from console.agent.nested_form_data import Node, rows_of, text_of, words_of

# Index placeholders in the <template> elements that the script clones.
NEW_SCENARIO, NEW_STEP = "__i__", "__j__"


def read(entries: Node) -> dict[str, Any]:
    scenarios = [
        {"title": text_of(scenario, "title"), "steps": [_read_step(step) for step in rows_of(scenario, "steps")]}
        for scenario in rows_of(entries, "scenarios")
    ]
    return {"scenarios": scenarios}


def show(document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
    blank = {"text": "", "collects": [], "tools": []}
    return {
        "scenarios": [_scenario(fields, index, scenario) for index, scenario in enumerate(document["scenarios"])],
        "list_error": fields.error("scenarios"),
        "new_scenario": _scenario(fields, NEW_SCENARIO, {"title": "", "steps": [blank]}),
        "new_step": _step(fields, f"scenarios.{NEW_SCENARIO}.steps", NEW_STEP, blank),
    }


def _read_step(step: Node) -> dict[str, Any]:
    return {"text": text_of(step, "text"), "collects": words_of(step, "collects"), "tools": words_of(step, "tools")}


def _scenario(fields: FormFields, index: int | str, scenario: dict[str, Any]) -> dict[str, Any]:
    path = f"scenarios.{index}"
    steps = [_step(fields, f"{path}.steps", at, step) for at, step in enumerate(scenario["steps"])]
    title, error = fields.field(f"{path}.title", scenario["title"]), fields.error(f"{path}.steps")
    is_wrong = bool(title.error or error or any(step["is_wrong"] for step in steps))
    is_doubtful = any(step["tools"].warnings for step in steps)
    return {
        "index": index,
        "title": title,
        "steps": steps,
        "error": error,
        "is_wrong": is_wrong,
        "is_doubtful": is_doubtful,
    }


def _step(fields: FormFields, path: str, index: int | str, step: dict[str, Any]) -> dict[str, Any]:
    shown = {
        "text": fields.field(f"{path}.{index}.text", step["text"]),
        "collects": fields.field(f"{path}.{index}.collects", ", ".join(step["collects"])),
        "tools": fields.field(f"{path}.{index}.tools", ", ".join(step["tools"])),
    }
    return {**shown, "index": index, "is_wrong": any(box.error for box in shown.values())}
