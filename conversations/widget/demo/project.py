"""Access to the demo shop's project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import Http404

from projects.demo.shop import find_shop
from projects.management.commands.demo import EMAIL
from projects.models import Project, User
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations


@contextmanager
def demo_shop() -> Iterator[Project]:
    """The shop's project, inside its tenant's transaction. Raises Http404 if there is no demo."""
    user = User.objects.filter(email=EMAIL).first()
    for organization_id in find_organizations(user_id=user.pk) if user else ():
        with tenant_tx(organization_id):
            project = find_shop()
            if project is not None:
                yield project
                return
    raise Http404
