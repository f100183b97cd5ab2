"""Registration of the lanes that send notices, and of the receivers of signals from accounts and the rooms below."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from allauth.account.signals import password_changed, password_reset
from django.contrib.auth.signals import user_logged_out
from django.http import HttpRequest

from jobs.lanes import register_lanes
from notices import emails
from notices.models import NoticeKind
from notices.push.lane import push_lane
from notices.push.subscriptions import forget_others, forget_session
from notices.services import notify, settle
from notices.slack import slack_lane
from projects.connections.integration_types import KINDS
from projects.connections.integrations import reauth_changed
from projects.models import Source, User


def register() -> None:
    register_lanes(emails.DIGEST.as_lane(), slack_lane(), push_lane())
    user_logged_out.connect(on_signed_out)
    password_changed.connect(on_new_password)
    password_reset.connect(on_new_password)
    reauth_changed.connect(on_reauth_changed)


def on_signed_out(sender: Any, request: HttpRequest | None, user: User | None, **_: Any) -> None:
    forget_session(request, user)


def on_new_password(sender: Any, request: HttpRequest | None, user: User, **_: Any) -> None:
    forget_others(request, user)


def on_reauth_changed(source_id: UUID, is_needed: bool) -> None:
    """Notify operators of an integration whose credentials are rejected, until they are accepted again."""
    if not is_needed:
        settle(NoticeKind.RECONNECT, source_id)
        return
    source = Source.objects.get(pk=source_id)
    title = KINDS[source.kind].title if source.kind in KINDS else source.kind
    notify(source.project_id, kind=NoticeKind.RECONNECT, subject=source_id, text=title)
