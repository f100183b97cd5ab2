"""Authentication and permissions of API callers.

Authentication finds the caller's tenant through mg_ops. The check itself runs inside that tenant's transaction.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any, cast
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import activate
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from projects.accounts.languages import language_of_request
from projects.common.api_error import ApiError
from projects.models import ApiKey, Member, Project, User
from projects.models.permissions import VERBS
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import current_organization_id, tenant_tx
from tenancy.tenant_lookup import KeyRef, ProjectRef, find_api_key, find_project

CHALLENGE = 'Bearer realm="makegood"'
KEY_FORMAT = re.compile(r"mg_[0-9a-f]{8}_[\w-]{43}", re.ASCII)
SLUG_FORMAT = re.compile(r"[a-z0-9_-]{1,60}")
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
HEAD_AS_GET = {"HEAD": "GET"}
LAST_USED_INTERVAL = timedelta(minutes=1)
CACHED_KEYS = 4096

API_KEY_BY_ID = PreparedQuery(lambda key: ApiKey.objects.select_related("project").filter(pk=key), kinds=(UUID,))


@dataclass(frozen=True)
class Caller:
    """`request.auth` of every API view. Either `key`, or `member` and `user`, is set."""

    project: Project
    organization_id: UUID
    scopes: frozenset[str]
    key: ApiKey | None = None
    member: Member | None = None
    user: User | None = None
    throttled: bool = True

    @property
    def name(self) -> str:
        """The caller's display name."""
        return self.user.name if self.user else f"the key {self.key.name}" if self.key else ""

    @property
    def identity(self) -> str:
        """An id that no other caller of the project has, for the caller's limits and Idempotency-Keys."""
        if self.key:
            return f"key:{self.key.pk}"
        return f"member:{self.member.pk}" if self.member else ""


@dataclass(frozen=True)
class PendingAuth:
    """Credentials located before the transaction. `admit` checks them inside it and raises ApiError if they are not
    valid.
    """

    organization_id: UUID
    admit: Callable[[], Caller]


def caller_of(request: Request) -> Caller | None:
    """The authenticated caller, or None if the view requires none."""
    return cast("Caller | None", request.auth)


class TenantAuthentication(BaseAuthentication):
    """Authentication in two steps, so that one transaction covers the check and the view's work.

    `TenantView` runs the steps separately.
    """

    def find_pending_auth(self, request: Request) -> PendingAuth | None:
        """The located credentials, or None if the request carries none of this kind. Raises ApiError."""
        raise NotImplementedError

    def authenticate(self, request: Request) -> tuple[User | None, Caller] | None:
        """DRF's interface, for views without a tenant transaction of their own."""
        pending = self.find_pending_auth(request)
        if pending is None:
            return None
        with tenant_tx(pending.organization_id):
            caller = pending.admit()
        return caller.user, caller

    def authenticate_header(self, request: Request) -> str:
        return CHALLENGE


class ApiKeyAuthentication(TenantAuthentication):
    """API keys: `Authorization: Bearer mg_…`."""

    def find_pending_auth(self, request: Request) -> PendingAuth | None:
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        kind, _, secret = header.partition(" ")
        if kind.lower() != "bearer" or not secret:
            raise not_authenticated()
        if not KEY_FORMAT.fullmatch(secret):
            raise invalid_key()
        try:
            ref = _find_key(ApiKey.digest_of(secret))
        except UnknownKey as error:
            raise invalid_key() from error
        return PendingAuth(ref.organization_id, partial(_admit_key, ref.key_id))


class MemberAuthentication(TenantAuthentication):
    """Signed-in members: the session cookie, and the project in `X-Project` or `?project=`."""

    def find_pending_auth(self, request: Request) -> PendingAuth | None:
        http = request._request
        user = getattr(http, "user", None)
        if user is None or not user.is_authenticated:
            return None
        if request.method not in SAFE_METHODS:
            _check_csrf(http)
        http.staff_language = language_of_request(http, user)  # type: ignore[attr-defined]
        activate(http.staff_language)  # type: ignore[attr-defined]
        ref = _find_project(user, slug=http.headers.get("X-Project") or http.GET.get("project", ""))
        return PendingAuth(ref.organization_id, partial(_admit_member, user, ref.project_id))


class HasScope(BasePermission):
    """Requires the scope that the view's `scopes` declares for the HTTP method; a missing declaration is a programming
    error.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True if the caller has the scope. Raises ApiError: 401 without a caller, 403 without the scope."""
        caller = caller_of(request)
        if caller is None:
            raise not_authenticated()
        method = HEAD_AS_GET.get(request.method or "", request.method or "")
        if method.lower() not in view.http_method_names or not hasattr(view, method.lower()):
            return True  # the view itself responds with 405
        scope = view.scopes.get(method)
        if scope is None:
            raise ImproperlyConfigured(f"{type(view).__name__}.scopes has no scope for {method}.")
        if scope not in caller.scopes:
            raise ApiError("missing_scope", f"This requires the scope '{scope}'.", status=403)
        return True


def load_key_scopes(organization_id: UUID, key_id: UUID) -> frozenset[str]:
    """The key's scopes, or an empty set if it expired, was revoked or deleted.

    Long-lived connections use this to check their key again.
    """
    with tenant_tx(organization_id):
        found = API_KEY_BY_ID(key_id)
        return frozenset(found[0].scopes) if found and found[0].is_usable else frozenset()


def load_member_scopes(organization_id: UUID, user_id: int) -> frozenset[str]:
    """The user's scopes as a member, or an empty set after they left or their account was deactivated."""
    with tenant_tx(organization_id):
        member = Member.objects.filter(user_id=user_id, user__is_active=True).first()
        return frozenset(VERBS[member.role]) if member else frozenset()


class UnknownKey(LookupError):
    """No API key has this digest."""


@lru_cache(maxsize=CACHED_KEYS)
def _find_key(digest: str) -> KeyRef:
    """The tenant of a key. Raises UnknownKey, so that only keys that exist are cached; a key never changes its tenant."""
    ref = find_api_key(digest)
    if ref is None:
        raise UnknownKey
    return ref


def _admit_key(key_id: UUID) -> Caller:
    found = API_KEY_BY_ID(key_id)
    if not found or not found[0].is_usable:
        raise invalid_key()
    [key] = found
    if key.last_used_at is None or key.last_used_at < timezone.now() - LAST_USED_INTERVAL:
        # After commit, so that concurrent requests with this key don't wait for a lock on its row. Not a `partial`: if it
        # fails, Django logs the name of the function, which a partial doesn't have.
        organization_id = current_organization_id()
        transaction.on_commit(lambda: _record_use(organization_id, key.pk), robust=True)
    return Caller(
        project=key.project,
        organization_id=current_organization_id(),
        scopes=frozenset(key.scopes),
        key=key,
        throttled=key.throttled,
    )


def _record_use(organization_id: UUID, key_id: UUID) -> None:
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_INTERVAL)
    with tenant_tx(organization_id):
        ApiKey.objects.filter(stale, pk=key_id).update(last_used_at=now)


def _find_project(user: User, *, slug: str) -> ProjectRef:
    if not slug:
        raise ApiError("project_required", "Set the project in the header X-Project or in ?project=.")
    ref = find_project(user_id=user.pk, slug=slug) if SLUG_FORMAT.fullmatch(slug) else None
    if ref is None:
        raise _project_not_found()
    return ref


def _admit_member(user: User, project_id: UUID) -> Caller:
    try:
        project, member = Project.objects.get(pk=project_id), Member.objects.get(user=user)
    except (Project.DoesNotExist, Member.DoesNotExist) as error:
        # Deleted since the lookup.
        raise _project_not_found() from error
    return Caller(
        project=project,
        organization_id=current_organization_id(),
        scopes=VERBS[member.role],
        member=member,
        user=user,
    )


def _check_csrf(request: HttpRequest) -> None:
    check = CSRFCheck(_unused_view)
    check.process_request(request)
    reason = check.process_view(request, _unused_view, (), {})
    if reason:
        raise ApiError("csrf_failed", f"Send the header X-CSRFToken: {reason}", status=403)


def _unused_view(request: HttpRequest) -> HttpResponse:
    raise NotImplementedError("CSRFCheck takes a view only to see whether it is exempt.")


def not_authenticated() -> ApiError:
    """401 for a request without credentials."""
    return ApiError(
        "not_authenticated",
        "Send the header Authorization: Bearer <project API key>.",
        status=401,
        headers={"WWW-Authenticate": 'Bearer realm="makegood"'},
    )


def invalid_key() -> ApiError:
    """401 for a key that is malformed, unknown, expired or revoked; the cases are indistinguishable."""
    message = "This API key is not valid: it is unknown, expired or revoked."
    return ApiError("invalid_api_key", message, status=401, headers={"WWW-Authenticate": CHALLENGE})


def _project_not_found() -> ApiError:
    return ApiError("not_found", "You have no project with this name.", status=404)
