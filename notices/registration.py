"""Registration of the lanes that send notices, and of the receivers of signals from the rooms below."""

from __future__ import annotations

from uuid import UUID

from notices import emails, slack
from notices.models import NoticeKind
from notices.services import notify, settle
from projects.connections.integration_types import KINDS
from projects.connections.integrations import reauth_changed
from projects.models import Source


def register() -> None:
    emails.DIGEST.register()
    slack.register_lane()
    reauth_changed.connect(on_reauth_changed)


def on_reauth_changed(source_id: UUID, is_needed: bool) -> None:
    """Notify operators of an integration whose credentials are rejected, until they are accepted again."""
    if not is_needed:
        settle(NoticeKind.RECONNECT, source_id)
        return
    source = Source.objects.get(pk=source_id)
    title = KINDS[source.kind].title if source.kind in KINDS else source.kind
    notify(source.project_id, kind=NoticeKind.RECONNECT, subject=source_id, text=title)
