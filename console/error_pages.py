"""Pages of a project that don't exist, that a member may not see, or whose filter is unknown, in the console's shell."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from console.access import enter
from console.layout import account_context, shell_context
from console.parameters import UnknownFilter
from projects.common.exception_answers import answers_exceptions
from projects.models.key import Scope

STATUSES: Mapping[type[Exception], int] = {Http404: 404, PermissionDenied: 403, UnknownFilter: 400}
PROJECTS = "/p/"
IN_SHELL = "error_in_shell.html"
FILE = ".csv"


@answers_exceptions
def error_pages(request: HttpRequest, exception: Exception) -> HttpResponse | None:
    """Answers 400, 403 and 404 with a page in the shell for those who are signed in.

    Django's own handlers run in other threads, where nothing closes a database connection.
    """
    status = next((code for kind, code in STATUSES.items() if isinstance(exception, kind)), None)
    if status is None or not request.path.startswith(PROJECTS) or not request.user.is_authenticated:
        return None
    if not (context := _shell(request)):
        return None
    shown = {**context, "layout": IN_SHELL}
    if status == 400:
        # A file has no page of its own to go on with.
        shown |= {"sentence": str(exception), "unfiltered": "" if request.path.endswith(FILE) else request.path}
    return render(request, f"{status}.html", shown, status=status)


def _shell(request: HttpRequest) -> dict[str, object]:
    """The shell of the page's project; of another one of the reader's if this one isn't theirs."""
    slug = request.resolver_match.kwargs.get("project_slug") if request.resolver_match else None
    with suppress(Http404):
        if slug:
            return shell_context(request, enter(request, slug, verb=Scope.READ))
    return account_context(request)
