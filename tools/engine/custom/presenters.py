"""API representations of custom tools, without their secrets."""

from __future__ import annotations

from typing import Annotated, TypedDict

from projects.common.presenters import Id, Stamp, stamp
from tools.engine.custom.secrets import has_signing_secret, secret_names
from tools.engine.custom.service import Saved
from tools.engine.payloads import Definition, ToolOrigin
from tools.engine.registry import builtin_tools
from tools.engine.validation.problem import Problem
from tools.models import CustomTool, CustomToolVersion


class ProblemPayload(TypedDict):
    """A mistake; `path` is its dotted path in the definition, empty for the whole."""

    path: str
    message: str


class CustomToolPayload(TypedDict):
    name: str
    version: int
    enabled: bool
    overrides: ToolOrigin | None
    definition: Definition
    has_signing_secret: bool
    secret_headers: Annotated[list[str], "Their names."]
    created_at: Stamp
    updated_at: Stamp


class NewSecretPayload(TypedDict, total=False):
    signing_secret: str


class SavedToolPayload(CustomToolPayload, NewSecretPayload):
    """`signing_secret` is present only when it has just been created."""

    warnings: list[ProblemPayload]
    removed_headers: Annotated[list[str], "Secret headers removed because the address belongs to another server."]


class ToolVersionPayload(TypedDict):
    name: str
    number: int
    enabled: bool
    removed: bool
    author: Annotated[Id | None, "The member; null for an API key."]
    saved_at: Stamp
    definition: Definition


def tool_payload(tool: CustomTool) -> CustomToolPayload:
    return {
        "name": tool.name,
        "version": tool.version,
        "enabled": tool.is_enabled,
        "overrides": "built-in" if tool.name in builtin_tools() else None,
        "definition": tool.definition,
        "has_signing_secret": has_signing_secret(tool),
        "secret_headers": secret_names(tool),
        "created_at": stamp(tool.created_at),
        "updated_at": stamp(tool.updated_at),
    }


def saved_payload(saved: Saved) -> SavedToolPayload:
    """A saved tool with its warnings, and the signing secret if it is new."""
    secret: NewSecretPayload = {"signing_secret": saved.signing_secret} if saved.signing_secret else {}
    warnings = [problem_payload(problem) for problem in saved.warnings]
    removed = list(saved.removed_headers)
    return {**tool_payload(saved.tool), "warnings": warnings, "removed_headers": removed, **secret}


def version_payload(version: CustomToolVersion) -> ToolVersionPayload:
    return {
        "name": version.tool.name,
        "number": version.number,
        "enabled": version.is_enabled,
        "removed": version.is_removed,
        "author": str(version.author_id) if version.author_id else None,
        "saved_at": stamp(version.saved_at),
        "definition": version.definition,
    }


def problem_payload(problem: Problem) -> ProblemPayload:
    return {"path": problem.path, "message": problem.message}
