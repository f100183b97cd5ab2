"""Webhook secrets: signing secrets and secret headers, encrypted and write-only.

Secret headers are bound to the scheme, host and port of the webhook they were entered for. They are sent to no other
server, so that whoever may change the address can't read them. A signing secret is never sent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from uuid import UUID

from django.utils.translation import gettext

from outbound.errors import InvalidRequest
from outbound.headers import check_headers
from outbound.origin import origin_of
from projects.common import crypto
from projects.models.organization import lock_project
from tools.engine.definition import ActionType
from tools.engine.signing_secrets import rotated, valid_secrets
from tools.engine.validation.options import RESERVED_HEADERS
from tools.engine.validation.problem import DefinitionRefused, Problem
from tools.models import CustomTool

MAX_HEADERS = 20


@dataclass(frozen=True)
class WebhookSecrets:
    """The signing secrets, newest first, and the secret headers of a call."""

    signing: Sequence[str] = ()
    headers: Mapping[str, str] | None = None
    server: str = ""

    def for_url(self, url: str) -> WebhookSecrets:
        """The secrets of a call to this URL: without the headers if they belong to another server."""
        return self if origin_of(url) == self.server else replace(self, headers={})


def read_secrets(tool: CustomTool) -> WebhookSecrets:
    """Decrypt the secrets for a call, which is never made unsigned. Raises crypto.WrongSecret."""
    stored = _open(tool)
    signing = valid_secrets(stored["signing"])
    return WebhookSecrets(signing=signing, headers=stored["headers"], server=_server(tool, stored))


def secrets_of(project_id: UUID, name: str) -> WebhookSecrets:
    """The current secrets of a project's tool; empty if there is no such tool. Runs inside a transaction."""
    tool = CustomTool.objects.filter(project_id=project_id, name=name, is_removed=False).first()
    return read_secrets(tool) if tool else WebhookSecrets()


def secret_names(tool: CustomTool) -> list[str]:
    """Names of the secret headers that are set."""
    return sorted(_read(tool)["headers"])


def has_signing_secret(tool: CustomTool) -> bool:
    return bool(_read(tool)["signing"])


def first_signing_secret(tool: CustomTool) -> str | None:
    """Create a signing secret for a tool without one, to be shown once; None if it has one."""
    return None if has_signing_secret(tool) else rotate_signing_secret(tool)


def rotate_signing_secret(tool: CustomTool) -> str:
    """Create a new signing secret, to be shown once. The previous one stays valid for OVERLAP.

    Concurrent rotations run one after the other, and both new secrets sign.
    """
    stored = _lock_and_read(tool)
    signing = rotated(stored["signing"])
    _write(tool, {**stored, "signing": signing})
    return signing[0]["secret"]


def set_secret_headers(tool: CustomTool, changes: Mapping[str, str | None]) -> list[str]:
    """Set headers by name, or remove those given as None. Returns the names that are set. Raises DefinitionRefused.

    Concurrent changes run one after the other.
    """
    stored = _lock_and_read(tool)
    changed = {name.lower() for name in changes}
    kept = {name: value for name, value in stored["headers"].items() if name.lower() not in changed}
    headers = {**kept, **{name: value for name, value in changes.items() if value is not None}}
    if problems := _problems_of(headers):
        raise DefinitionRefused(problems)
    server = _server(tool, stored) if kept else server_of(tool.definition)
    _write(tool, {**stored, "headers": headers, "server": server})
    return sorted(headers)


def drop_foreign_headers(tool: CustomTool, *, before: Mapping[str, Any]) -> list[str]:
    """Remove the secret headers of a tool whose new definition calls another server. Returns the removed names.

    `before` is the previous definition. Runs in the transaction that saves the new one.
    """
    stored = _lock_and_read(tool)
    server = stored.get("server", server_of(before))
    if not stored["headers"] or server == server_of(tool.definition):
        return []
    _write(tool, {**stored, "headers": {}, "server": ""})
    return sorted(stored["headers"])


def server_of(definition: Mapping[str, Any]) -> str:
    """The server that a definition's webhook calls; empty for another action."""
    action = definition.get("action") or {}
    url = (action.get("options") or {}).get("url") if action.get("type") == ActionType.SEND_WEBHOOK else None
    return origin_of(url) if isinstance(url, str) else ""


def _problems_of(headers: Mapping[str, str]) -> list[Problem]:
    if len(headers) > MAX_HEADERS:
        return [
            Problem(
                "headers",
                gettext("There are %(count)s secret headers; the limit is %(most)s.")
                % {"count": len(headers), "most": MAX_HEADERS},
            )
        ]
    return [problem for name, value in headers.items() if (problem := _problem_of(name, value))]


def _problem_of(name: str, value: str) -> Problem | None:
    path = f"headers.{name[:64]}"
    if name.lower() in RESERVED_HEADERS | {"content-type"}:
        return Problem(
            path, gettext("The header %(name)s is set by the system and can't be changed.") % {"name": name[:64]}
        )
    if not value:
        return Problem(
            path, gettext("The header %(name)s is empty; send a value, or null to remove it.") % {"name": name[:64]}
        )
    try:
        check_headers({name: value})
    except InvalidRequest as error:
        return Problem(path, str(error))
    return None


def _server(tool: CustomTool, stored: Mapping[str, Any]) -> str:
    """The server that the headers belong to. Headers stored before they were bound belong to the saved definition's."""
    server: str = stored.get("server", server_of(tool.definition))
    return server


def _lock_and_read(tool: CustomTool) -> dict[str, Any]:
    """The stored secrets, locked with the definition until the transaction ends.

    The lock is the one on all tools of the project, because saving a definition writes the whole row.
    """
    lock_project(tool.project_id)
    tool.secrets, tool.definition = CustomTool.objects.values_list("secrets", "definition").get(pk=tool.pk)
    return _read(tool)


def _read(tool: CustomTool) -> dict[str, Any]:
    """The stored secrets; empty if they can't be decrypted, so that new ones can be set."""
    try:
        return _open(tool)
    except crypto.WrongSecret:
        return {"signing": [], "headers": {}}


def _open(tool: CustomTool) -> dict[str, Any]:
    """The decrypted secrets. Raises crypto.WrongSecret."""
    if not tool.secrets:
        return {"signing": [], "headers": {}}
    organization_id = cast(UUID, tool.organization_id)
    text = crypto.decrypt(tool.secrets, organization_id=organization_id, field=_field(tool))
    stored: dict[str, Any] = json.loads(text)
    return stored


def _write(tool: CustomTool, stored: Mapping[str, Any]) -> None:
    organization_id = cast(UUID, tool.organization_id)
    tool.secrets = crypto.encrypt(json.dumps(stored), organization_id=organization_id, field=_field(tool))
    # `updated_at` belongs to the definition: a new secret makes no new version.
    CustomTool.objects.filter(pk=tool.pk).update(secrets=tool.secrets)


def _field(tool: CustomTool) -> str:
    return f"custom_tool:{tool.pk}"
