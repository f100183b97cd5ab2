"""Paths that a conversation can take, in numbered steps."""

from __future__ import annotations

from typing import Any

from console.agent.form_fields import Boxes
from console.agent.nested_form_data import Node, rows_of, text_of, words_of

# Stand for the index in the templates from which the script makes new entries.
NEW_SCENARIO, NEW_STEP = "__i__", "__j__"


def read(entries: Node) -> dict[str, Any]:
    scenarios = [
        {"title": text_of(scenario, "title"), "steps": [_read_step(step) for step in rows_of(scenario, "steps")]}
        for scenario in rows_of(entries, "scenarios")
    ]
    return {"scenarios": scenarios}


def show(document: dict[str, Any], boxes: Boxes) -> dict[str, Any]:
    blank = {"text": "", "collects": [], "tools": []}
    return {
        "scenarios": [_scenario(boxes, index, scenario) for index, scenario in enumerate(document["scenarios"])],
        "list_error": boxes.error("scenarios"),
        "new_scenario": _scenario(boxes, NEW_SCENARIO, {"title": "", "steps": [blank]}),
        "new_step": _step(boxes, f"scenarios.{NEW_SCENARIO}.steps", NEW_STEP, blank),
    }


def _read_step(step: Node) -> dict[str, Any]:
    return {"text": text_of(step, "text"), "collects": words_of(step, "collects"), "tools": words_of(step, "tools")}


def _scenario(boxes: Boxes, index: int | str, scenario: dict[str, Any]) -> dict[str, Any]:
    path = f"scenarios.{index}"
    steps = [_step(boxes, f"{path}.steps", at, step) for at, step in enumerate(scenario["steps"])]
    title, error = boxes.box(f"{path}.title", scenario["title"]), boxes.error(f"{path}.steps")
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


def _step(boxes: Boxes, path: str, index: int | str, step: dict[str, Any]) -> dict[str, Any]:
    shown = {
        "text": boxes.box(f"{path}.{index}.text", step["text"]),
        "collects": boxes.box(f"{path}.{index}.collects", ", ".join(step["collects"])),
        "tools": boxes.box(f"{path}.{index}.tools", ", ".join(step["tools"])),
    }
    return {**shown, "index": index, "is_wrong": any(box.error for box in shown.values())}
