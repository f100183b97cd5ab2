"""E-mail digest of notices, for the kinds without a digest of their own."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.utils.translation import ngettext

from notices.digest import Digest
from notices.models import Notice, NoticeEmail, Send
from projects.common.translation import lazy
from projects.models import Project

LANE = "notice_email"


def queue(project_id: UUID, *, cause: str) -> None:
    """Queue the e-mails of a project's notices in the current transaction."""
    DIGEST.queue(project_id, cause=cause)


def _waiting(project: Project) -> Sequence[Notice]:
    """Notices to be e-mailed. One that is still `sending` belongs to a worker that died, and is tried again."""
    rows = Notice.objects.filter(project=project, email__in=(Send.DUE, Send.SENDING), read_at=None)
    return list(rows.order_by("created_at", "id"))


def _mark(items: Sequence[Notice], state: Send) -> None:
    Notice.objects.filter(pk__in=[one.pk for one in items]).update(email=state)


DIGEST = Digest(
    lane=LANE,
    notices=NoticeEmail.objects,
    waiting=_waiting,
    is_for=lambda notice, member: notice.member_id == member.pk,
    since=lambda notice: notice.created_at,
    text=lambda notice: f"{notice.get_kind_display()}: {notice.text}",
    headline=lambda count: ngettext("%(count)s notification", "%(count)s notifications", count) % {"count": count},
    note=lazy("Choose what you’re notified about in your account, under Notifications."),
    page="notices",
    mark=_mark,
)
