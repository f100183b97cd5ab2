"""What a webhook proves itself with: signing secrets and secret headers, encrypted, written and never read back (S2, S4)."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from django.utils import timezone

from outbound.errors import InvalidRequest
from outbound.headers import check_headers
from projects.common import crypto
from projects.models import Project
from tools.engine.validation.options import OWN_HEADERS
from tools.engine.validation.problem import DefinitionRefused, Problem
from tools.models import CustomTool

PREFIX = "whsec_"
SECRET_BYTES = 32
MOST_HEADERS = 20
# How long calls are signed with the old secret too, so that the endpoint can be changed at leisure.
OVERLAP = timedelta(hours=24)


@dataclass(frozen=True)
class WebhookSecrets:
    """What a call is signed with, the newest secret first, and the headers that no one reads back."""

    signing: Sequence[str] = ()
    headers: Mapping[str, str] | None = None


def read_secrets(tool: CustomTool) -> WebhookSecrets:
    """For the call itself, which is never made unsigned. Raises crypto.WrongSecret."""
    stored = _open(tool)
    now = timezone.now()
    signing = [one["secret"] for one in stored["signing"] if _until(one) is None or cast(datetime, _until(one)) > now]
    return WebhookSecrets(signing=signing, headers=stored["headers"])


def secrets_of(project_id: UUID, name: str) -> WebhookSecrets:
    """The secrets of a project's tool as they are now; none where there is no such tool. Inside a transaction."""
    tool = CustomTool.objects.filter(project_id=project_id, name=name, is_removed=False).first()
    return read_secrets(tool) if tool else WebhookSecrets()


def secret_names(tool: CustomTool) -> list[str]:
    """Which secret headers are set, without their values."""
    return sorted(_read(tool)["headers"])


def has_signing_secret(tool: CustomTool) -> bool:
    return bool(_read(tool)["signing"])


def first_signing_secret(tool: CustomTool) -> str | None:
    """A signing secret for a tool that has none, to be shown this once; None where there is one already."""
    return None if has_signing_secret(tool) else rotate_signing_secret(tool)


def rotate_signing_secret(tool: CustomTool) -> str:
    """A new signing secret, to be shown this once. The one before signs beside it for OVERLAP. Of two at once both sign."""
    stored = _locked(tool)
    secret = PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
    before = [{**one, "until": (timezone.now() + OVERLAP).isoformat()} for one in stored["signing"][:1]]
    _write(tool, {**stored, "signing": [{"secret": secret, "until": None}, *before]})
    return secret


def set_secret_headers(tool: CustomTool, changes: Mapping[str, str | None]) -> list[str]:
    """Set headers by name, or take away those given as None; answers with the names that are set. Raises DefinitionRefused.

    Two at once follow each other.
    """
    stored = _locked(tool)
    changed = {name.lower() for name in changes}
    kept = {name: value for name, value in stored["headers"].items() if name.lower() not in changed}
    headers = {**kept, **{name: value for name, value in changes.items() if value is not None}}
    if problems := _problems_of(headers):
        raise DefinitionRefused(problems)
    _write(tool, {**stored, "headers": headers})
    return sorted(headers)


def _problems_of(headers: Mapping[str, str]) -> list[Problem]:
    if len(headers) > MOST_HEADERS:
        return [Problem("headers", f"There are {len(headers)} secret headers; the limit is {MOST_HEADERS}.")]
    return [problem for name, value in headers.items() if (problem := _problem_of(name, value))]


def _problem_of(name: str, value: str) -> Problem | None:
    path = f"headers.{name[:64]}"
    if name.lower() in OWN_HEADERS | {"content-type"}:
        return Problem(path, f"The header {name[:64]} is set by the system and can't be changed.")
    if not value:
        return Problem(path, f"The header {name[:64]} is empty; write its secret, or null to take it away.")
    try:
        check_headers({name: value})
    except InvalidRequest as error:
        return Problem(path, str(error))
    return None


def _locked(tool: CustomTool) -> dict[str, Any]:
    """What is stored, which nobody else changes before this transaction ends: under the lock of all tools of the project, because
    who saves a definition writes the whole row.
    """
    Project.objects.select_for_update(no_key=True).get(pk=tool.project_id)
    tool.secrets = CustomTool.objects.values_list("secrets", flat=True).get(pk=tool.pk)
    return _read(tool)


def _read(tool: CustomTool) -> dict[str, Any]:
    """What is stored; nothing where it can't be read any more, so that it can be set anew."""
    try:
        return _open(tool)
    except crypto.WrongSecret:
        return {"signing": [], "headers": {}}


def _open(tool: CustomTool) -> dict[str, Any]:
    """What is stored. Raises crypto.WrongSecret."""
    if not tool.secrets:
        return {"signing": [], "headers": {}}
    organization_id = cast(UUID, tool.organization_id)
    text = crypto.decrypt(tool.secrets, organization_id=organization_id, field=_field(tool))
    stored: dict[str, Any] = json.loads(text)
    return stored


def _write(tool: CustomTool, stored: Mapping[str, Any]) -> None:
    organization_id = cast(UUID, tool.organization_id)
    tool.secrets = crypto.encrypt(json.dumps(stored), organization_id=organization_id, field=_field(tool))
    # `updated_at` is the definition's: a new secret makes no new version.
    CustomTool.objects.filter(pk=tool.pk).update(secrets=tool.secrets)


def _field(tool: CustomTool) -> str:
    return f"custom_tool:{tool.pk}"


def _until(one: Mapping[str, Any]) -> datetime | None:
    return datetime.fromisoformat(one["until"]) if one["until"] else None
