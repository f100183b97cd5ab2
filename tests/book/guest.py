"""A guest in a process of their own: says "ready", books when told to, and says what they got."""

from __future__ import annotations

import sys
from datetime import datetime
from uuid import UUID

import django


def main(organization_id: UUID, project_id: UUID, starts_at: datetime, now: datetime) -> str:
    django.setup()
    from projects.models import Project
    from projects.tenancy import tenant_tx
    from tools.book.refusals import Unbookable
    from tools.book.services import Guest, book
    from tools.book.wishes import Wish

    print("ready", flush=True)
    sys.stdin.readline()
    try:
        with tenant_tx(organization_id):
            project = Project.objects.select_related("agent_version").get(pk=project_id)
            return book(project, Wish(2), starts_at=starts_at, guest=Guest(), now=now).resource.name
    except Unbookable as error:
        return error.code


if __name__ == "__main__":
    organization, project, starts_at, now = sys.argv[1:]
    moments = datetime.fromisoformat(starts_at), datetime.fromisoformat(now)
    print(main(UUID(organization), UUID(project), *moments), flush=True)
