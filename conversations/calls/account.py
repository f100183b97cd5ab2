"""The account at a provider over which a project's calls run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings

from conversations.models import Call
from jobs.fence import job_tx
from jobs.lanes import ClaimedJob
from llm.realtime import RealtimeCalls
from outbound.guard import Guard
from projects.common.crypto import WrongSecret
from projects.connections.integrations import guard_for, mark_needs_reauth, open_source
from projects.connections.openai_sip import KIND, read_secrets
from projects.connections.settings.openai_sip import OpenAiSipSettings

# The id of a call whose caller types, at the offline provider, begins with this.
TYPED = "typed_"
# The offline provider wants a key, and accepts any.
OFFLINE_KEY = "sk-offline"


@dataclass(frozen=True)
class CallAccount:
    """The provider as this account reaches it. `is_fallback_used` outside of the opening hours."""

    provider: RealtimeCalls
    is_fallback_used: bool = False


def account_of(call: Call) -> CallAccount | None:
    """The account of a call: the project's own, or the offline provider for a caller who types."""
    return offline_account() if call.external_id.startswith(TYPED) else own_account(call)


def own_account(call: Call) -> CallAccount | None:
    """The account that the project connected; None without one, or if its secret can't be read."""
    try:
        connection = open_source(call.project_id, KIND)
        secrets = read_secrets(connection.secret) if connection else None
    except (WrongSecret, ValueError):
        return None
    if connection is None or secrets is None:
        return None
    chosen = cast(OpenAiSipSettings, connection.settings)
    provider = RealtimeCalls(secrets.api_key, chosen.server, guard_for(chosen))
    return CallAccount(provider, is_fallback_used=chosen.outside_hours == "fallback")


def note_refused_key(job: ClaimedJob, project_id: UUID, *, api_key: str) -> None:
    """Record that the provider refuses this key, unless another one was entered meanwhile. Raises LeaseLost."""
    with job_tx(job):
        try:
            connection = open_source(project_id, KIND)
            is_tried = connection is not None and read_secrets(connection.secret).api_key == api_key
        except (WrongSecret, ValueError):
            return
        if connection is not None and is_tried:
            mark_needs_reauth(connection.source_id, tried=connection)


def offline_account() -> CallAccount | None:
    """The provider of this installation whose caller types; None if none runs."""
    server = settings.OFFLINE_CALLS_URL
    if not server:
        return None
    # The operator's own address, trusted like that of the operator's model.
    return CallAccount(RealtimeCalls(OFFLINE_KEY, server, Guard(allow=[urlsplit(server).netloc])))
