"""A guest in a separate process: prints "ready", books at the signal, and prints the result."""

from __future__ import annotations

import signal
from datetime import datetime
from uuid import UUID

from projects.models import Project
from tenancy.scope import tenant_tx
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.refusals import Unbookable
from tools.services.bookings.services import Guest, book

GO = signal.SIGUSR1


def guest(organization: str, project: str, starts_at: str, now: str) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {GO})
    print("ready", flush=True)
    signal.sigwait({GO})
    print(
        _book(UUID(organization), UUID(project), datetime.fromisoformat(starts_at), datetime.fromisoformat(now)),
        flush=True,
    )


def _book(organization_id: UUID, project_id: UUID, starts_at: datetime, now: datetime) -> str:
    try:
        with tenant_tx(organization_id):
            project = Project.objects.select_related("agent_version").get(pk=project_id)
            return book(project, BookingRequest(2), starts_at=starts_at, guest=Guest(), now=now).resource.name
    except Unbookable as error:
        return error.code
