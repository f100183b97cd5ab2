"""The pages that notices lead to."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings

from notices.models import Notice, NoticeKind

# Below the project's address.
PATHS: Mapping[str, str] = {
    NoticeKind.WAITS: "inbox/{id}",
    NoticeKind.ASSIGNED: "inbox/{id}",
    NoticeKind.MENTIONED: "inbox/{id}",
    NoticeKind.TO_REVIEW: "todos/{id}",
    NoticeKind.TODO_FAILED: "todos/{id}",
    NoticeKind.UNKNOWN: "effects/{id}",
    NoticeKind.BROKEN: "promises?days=90#promise-{id}",
    NoticeKind.RATED_BADLY: "inbox/{id}",
    NoticeKind.LIMIT: "agent/limits",
    NoticeKind.RECONNECT: "agent/integrations",
}


def path_of(notice: Notice) -> str:
    """The path of the page that a notice leads to. Its project must be loaded."""
    return f"/p/{notice.project.slug}/{PATHS[notice.kind].format(id=notice.object_id)}"


def url_of(notice: Notice) -> str:
    return f"{settings.BASE_URL}{path_of(notice)}"
