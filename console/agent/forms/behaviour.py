"""Behavior: newer messages, claim checks, follow-ups, ratings, files, quality scoring."""

from __future__ import annotations

from typing import Any, get_args

from console.agent.form_fields import FormFields
from console.agent.nested_form_data import Node, number_or_text, part_of, text_of
from projects.common.translation import lazy
from projects.models.agent_config import ChannelKind, ChannelName

KINDS: tuple[ChannelKind, ...] = get_args(ChannelKind)
# Voice conversations are always scored.
SCORED_BY_CHOICE = tuple(name for name in get_args(ChannelName) if name not in ("phone", "webcall"))
CHANNEL_NAMES = {
    "chat": lazy("Chat"),
    "telegram": "Telegram",
    "whatsapp": "WhatsApp",
    "sms": "SMS",
    "email": lazy("E-mail"),
    "portal": lazy("Portal"),
    "api": "API",
}
KIND_NAMES = {"text": lazy("On text channels"), "voice": lazy("On voice channels")}
POLICIES = (
    ("", lazy("Channel default")),
    ("interrupt", lazy("Stop and answer both messages together")),
    ("queue", lazy("Finish, then answer the newer message")),
    ("reject", lazy("Reject the newer message until the reply is done")),
)
NEVER_OVER = lazy("Enter two different times, or leave both empty for no quiet hours.")


def read(entries: Node) -> dict[str, Any]:
    minutes, quiet = part_of(entries, "follow_up_minutes"), part_of(entries, "quiet_hours")
    span = [text_of(quiet, "0"), text_of(quiet, "1")]
    scored = part_of(entries, "score_quality_on")
    return {
        "newer_message": text_of(entries, "newer_message") or None,
        "truthful_status": "truthful_status" in entries,
        "knowledge_in_prompt": "knowledge_in_prompt" in entries,
        "ask_for_ratings": "ask_for_ratings" in entries,
        "take_files": "take_files" in entries,
        "score_quality_on": [name for name in SCORED_BY_CHOICE if name in scored],
        "follow_up_minutes": {kind: number_or_text(text) for kind in KINDS if (text := text_of(minutes, kind))},
        "follow_up_limit": number_or_text(text_of(entries, "follow_up_limit")),
        "quiet_hours": span if any(span) else None,
    }


def problems(changes: dict[str, Any]) -> dict[str, str]:
    """Reject quiet hours that start and end at the same time: they could mean never or always."""
    quiet = changes["quiet_hours"]
    return {"quiet_hours": NEVER_OVER} if quiet and quiet[0] == quiet[1] else {}


def show(document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
    quiet, minutes = document["quiet_hours"] or ["", ""], document["follow_up_minutes"]
    return {
        "newer_message": fields.field("newer_message", document["newer_message"]),
        "policies": POLICIES,
        "truthful_status": document["truthful_status"],
        "knowledge_in_prompt": document["knowledge_in_prompt"],
        "ask_for_ratings": document["ask_for_ratings"],
        "take_files": document["take_files"],
        "minutes": [
            (KIND_NAMES[kind], fields.field(f"follow_up_minutes.{kind}", _short(minutes.get(kind, ""))))
            for kind in KINDS
        ],
        "follow_up_limit": fields.field("follow_up_limit", document["follow_up_limit"]),
        "quiet_from": fields.field("quiet_hours.0", quiet[0]),
        "quiet_to": fields.field("quiet_hours.1", quiet[1]),
        "quiet_error": fields.error("quiet_hours"),
        "scored": [(name, CHANNEL_NAMES[name], name in document["score_quality_on"]) for name in SCORED_BY_CHOICE],
    }


def _short(value: object) -> object:
    """5.0 as 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
