"""A project's own tools as the API shows them: never their secrets."""

from __future__ import annotations

from typing import Any

from projects.presenters import stamp
from tools.builtin import builtin_tools
from tools.checking.problem import Problem
from tools.custom.secrets import has_signing_secret, secret_names
from tools.custom.service import Saved
from tools.models import CustomTool, CustomToolVersion


def tool_payload(tool: CustomTool) -> dict[str, Any]:
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


def saved_payload(saved: Saved) -> dict[str, Any]:
    """The tool with what is said at its save alone: warnings, and the signing secret when it is new."""
    said: dict[str, Any] = {"warnings": [problem_payload(problem) for problem in saved.warnings]}
    if saved.signing_secret:
        said["signing_secret"] = saved.signing_secret
    return {**tool_payload(saved.tool), **said}


def version_payload(version: CustomToolVersion) -> dict[str, Any]:
    return {
        "name": version.tool.name,
        "number": version.number,
        "enabled": version.is_enabled,
        "removed": version.is_removed,
        "author": str(version.author_id) if version.author_id else None,
        "saved_at": stamp(version.saved_at),
        "definition": version.definition,
    }


def problem_payload(problem: Problem) -> dict[str, str]:
    return {"path": problem.path, "message": problem.message}
