"""Changes to organizations, projects, agents and API keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.db.models.functions import Now

from projects.common.api_error import Conflict
from projects.common.hooks import Signal
from projects.models import AgentVersion, ApiKey, AuditAction, Member, Organization, Project, Role, User
from projects.models.agent_config import AgentConfig
from projects.models.key import Scope
from projects.models.organization import lock_project
from projects.records.audit import key_facts, record_key_change
from tenancy.scope import tenant_tx

FIRST_NOTE = "First version"

# An API key was revoked. Sent inside the transaction of the change.
key_revoked: Signal[[ApiKey]] = Signal()


@dataclass(frozen=True)
class NewKey:
    """A new key; `secret` is available only here."""

    key: ApiKey
    secret: str


def create_organization(name: str, *, owner: User, developer_tools: bool = False) -> Organization:
    """Create a tenant with its first owner, with or without developer tools, in a transaction of its own."""
    organization = Organization(name=name)
    with tenant_tx(organization.pk):
        organization.save(force_insert=True)
        Member.objects.create(user=owner, role=Role.OWNER, developer_tools=developer_tools)
    return organization


def create_project(name: str, *, config: AgentConfig, author: User | None = None) -> Project:
    """Create a project with the first version of its agent, in the current organization and transaction."""
    project = Project.objects.create(name=name, slug=Project.make_slug(name))
    save_agent(project, config=config, author=author, note=FIRST_NOTE)
    return project


class NewerVersion(Conflict):
    """Someone else saved these settings while you were editing. Compare the versions, and save again."""


def save_agent(
    project: Project,
    *,
    config: AgentConfig,
    author: User | None,
    note: str = "",
    started_from: int | None = None,
    is_draft: bool = False,
) -> AgentVersion:
    """Save the settings as a new version, used from the next turn on unless it is a draft.

    `started_from` is the number of the edited version; raises NewerVersion if it is no longer the newest.
    """
    lock_project(project.pk)
    last = AgentVersion.objects.filter(project=project).aggregate(last=Max("number"))["last"] or 0
    if started_from not in (None, last):
        raise NewerVersion
    document: dict[str, Any] = config.model_dump(mode="json")
    version = AgentVersion.objects.create(
        project=project, number=last + 1, document=document, author=author, note=note, is_draft=is_draft
    )
    if is_draft:
        return version
    project.agent_version = version
    project.save(update_fields=["agent_version"])
    return version


def latest_agent_version(project: Project) -> AgentVersion:
    """The newest version, published or not, with the project locked until the transaction ends."""
    lock_project(project.pk)
    return AgentVersion.objects.select_related("author").filter(project=project).latest("number")


def create_key(
    project: Project,
    *,
    name: str,
    scopes: Iterable[Scope],
    created_by: User | None = None,
    expires_at: datetime | None = None,
    throttled: bool = True,
    secret: str = "",
) -> NewKey:
    """Create an API key for the project and store its digest. `secret` is a caller-generated key."""
    secret = secret or ApiKey.make_secret()
    key = ApiKey.objects.create(
        project=project,
        name=name,
        prefix=secret[:11],
        digest=ApiKey.digest_of(secret),
        scopes=[scope.value for scope in scopes],
        throttled=throttled,
        expires_at=expires_at,
        created_by=created_by,
    )
    record_key_change(AuditAction.KEY_MADE, key, by=created_by)
    return NewKey(key=key, secret=secret)


def restore_key(key: ApiKey, *, by: User | None) -> bool:
    """Take back the revocation of an API key. Returns False if it isn't revoked. Streams that it had open have ended."""
    if ApiKey.objects.filter(pk=key.pk, revoked_at__isnull=False).update(revoked_at=None) != 1:
        return False
    record_key_change(AuditAction.KEY_RESTORED, key, by=by)
    return True


def revoke_key(key: ApiKey, *, by: User | None) -> bool:
    """Revoke an API key, effective from the next request. Returns False if it was already revoked."""
    if ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=Now()) != 1:
        return False
    record_key_change(AuditAction.KEY_REVOKED, key, by=by, before=key_facts(key))
    key_revoked.send(key)
    return True
