"""Secrets shown once, on the page after a form's redirect."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest

from projects.common import crypto


def keep_once(request: HttpRequest, name: str, secret: str, *, organization_id: UUID) -> None:
    """Store a secret, encrypted, in the session until `take_once`."""
    request.session[_session_key(name)] = crypto.encrypt(secret, organization_id=organization_id, field=name)


def take_once(request: HttpRequest, name: str, *, organization_id: UUID) -> str:
    """Return the stored secret and delete it; empty if this organization has none."""
    stored = request.session.pop(_session_key(name), None)
    if stored is None:
        return ""
    try:
        return crypto.decrypt(stored, organization_id=organization_id, field=name)
    except crypto.WrongSecret:
        return ""


def _session_key(name: str) -> str:
    return f"once_{name}"
