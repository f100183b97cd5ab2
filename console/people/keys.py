"""The page of API keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from console.layout import shell_context
from console.people.forms import LIFETIMES, KeyForm
from console.people.one_time_secrets import keep_once, take_once
from console.timestamps import Timestamp, format_timestamp
from console.undo import announce_undoable
from projects.agents.services import create_key, revoke_key
from projects.models import ApiKey, User
from projects.models.key import Scope
from projects.models.permissions import VERBS, Entry, enter_project
from tenancy.scope import tenant_tx

SECRET = "api_key"  # noqa: S105  # a session key
SHOWN = 200


@dataclass(frozen=True)
class KeyRow:
    id: str
    name: str
    prefix: str
    scopes: list[str]
    created: Timestamp
    by: str
    last_used: Timestamp | None
    expires: Timestamp | None
    revoked: Timestamp | None
    is_usable: bool


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def api_keys(request: HttpRequest, project_slug: str) -> HttpResponse:
    """List the project's API keys; POST creates one, whose secret the next page shows once."""
    is_post = request.method == "POST"
    verb = Scope.CONFIGURE if is_post else Scope.READ
    entry = enter_project(cast(User, request.user), project_slug, verb=verb, is_developer=True)
    form = KeyForm(
        request.POST if is_post else None,
        initial={"scopes": [Scope.READ, Scope.CONVERSE]},
        granted=VERBS[entry.member.role],
    )
    if is_post and form.is_valid():
        _create(request, entry, form=form)
        return redirect("api_keys", project_slug)
    return render(request, "people/keys.html", _context(request, entry, form=form))


@login_required
@require_POST
def revoke(request: HttpRequest, project_slug: str, key_id: UUID) -> HttpResponse:
    """Revoke a key; its next request is refused."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE, is_developer=True)
    with tenant_tx(entry.project.organization.pk):
        key = ApiKey.objects.filter(project=entry.project, pk=key_id).first()
        if key is None:
            raise Http404
        is_revoked = revoke_key(key, by=cast(User, request.user))
    if is_revoked:
        announce_undoable(
            request, entry, gettext("%(name)s revoked.") % {"name": key.name}, kind="key", key=str(key.pk)
        )
    return redirect("api_keys", project_slug)


def _create(request: HttpRequest, entry: Entry, *, form: KeyForm) -> None:
    with tenant_tx(entry.project.organization.pk):
        new = create_key(
            entry.project,
            name=form.cleaned_data["name"],
            scopes=[Scope(scope) for scope in form.cleaned_data["scopes"]],
            created_by=cast(User, request.user),
            expires_at=form.expires_at,
        )
    keep_once(request, SECRET, new.secret, organization_id=entry.project.organization.pk)


def _context(request: HttpRequest, entry: Entry, *, form: KeyForm) -> dict[str, Any]:
    with tenant_tx(entry.project.organization.pk):
        keys = list(ApiKey.objects.filter(project=entry.project).select_related("created_by")[:SHOWN])
    rows = sorted((_row(key) for key in keys), key=lambda row: not row.is_usable)
    return {
        **shell_context(request, entry),
        "form": form,
        "keys": rows,
        "usable": sum(row.is_usable for row in rows),
        "scopes": [{"value": value, "line": line} for value, line in form.scope_choices],
        "chosen": form["scopes"].value() or [],
        "lifetimes": LIFETIMES.items(),
        "base_url": settings.BASE_URL,
        "secret": take_once(request, SECRET, organization_id=entry.project.organization.pk),
    }


def _row(key: ApiKey) -> KeyRow:
    return KeyRow(
        id=str(key.pk),
        name=key.name,
        prefix=key.prefix,
        scopes=list(key.scopes),
        created=format_timestamp(key.created_at),
        by=key.created_by.name if key.created_by else "",
        last_used=format_timestamp(key.last_used_at) if key.last_used_at else None,
        expires=format_timestamp(key.expires_at) if key.expires_at else None,
        revoked=format_timestamp(key.revoked_at) if key.revoked_at else None,
        is_usable=key.is_usable,
    )
