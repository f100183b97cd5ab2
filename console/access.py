"""Project access for pages."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest

from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project


def enter(request: HttpRequest, slug: str, *, verb: Scope, is_developer: bool = False) -> Entry:
    """The signed-in user's entry to the project; to a page for developers with `is_developer`.

    Raises Http404 and PermissionDenied.
    """
    return enter_project(cast(User, request.user), slug, verb=verb, is_developer=is_developer)


def signed_in_user(request: HttpRequest) -> User | None:
    """The user of an async view, read in a thread of `in_db`."""
    return request.user if request.user.is_authenticated else None


def zone_of(entry: Entry) -> str:
    """The business's time zone; UTC without a configuration."""
    version = entry.project.agent_version
    return version.config.timezone if version else "UTC"
