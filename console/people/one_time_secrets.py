"""Secrets that a page shows a single time, after the redirect that follows the form."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest

from projects.common import crypto


def keep_once(request: HttpRequest, name: str, secret: str, *, organization_id: UUID) -> None:
    """Keep a secret, encrypted, in the session until the next page asks for it."""
    request.session[_place(name)] = crypto.encrypt(secret, organization_id=organization_id, field=name)


def take_once(request: HttpRequest, name: str, *, organization_id: UUID) -> str:
    """The secret that was kept, which is then forgotten; empty when there is none of this organization."""
    kept = request.session.pop(_place(name), None)
    if kept is None:
        return ""
    try:
        return crypto.decrypt(kept, organization_id=organization_id, field=name)
    except crypto.WrongSecret:
        return ""


def _place(name: str) -> str:
    return f"once_{name}"
