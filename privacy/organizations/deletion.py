"""The deletion of an organization: requested by an owner, carried out by the sweep in small transactions.

Keys and members go first, so that nothing new comes in. The remaining rows say what is left to do, so that any worker goes on
where another has died.
"""

from __future__ import annotations

import hashlib
import logging
import time
from datetime import timedelta
from functools import cache
from graphlib import TopologicalSorter
from typing import Any
from uuid import UUID

from django.db import connections, transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext

from jobs.failpoints import failpoint
from privacy.models import OrganizationDeletion
from privacy.registry import TABLES
from projects.common.api_error import Conflict, Unprocessable
from projects.models import AuditAction, Organization, User
from projects.records.audit import person, record_change

log = logging.getLogger(__name__)

GRACE = timedelta(days=7)
_LOCK = 0x6465_6C65  # "dele"
SECONDS_PER_SWEEP = 1.0
ROWS = 2_000
# A conversation takes everything in it along.
CONVERSATIONS = 20
# Rows that give access, and rows that refer to those that a conversation takes along.
FIRST = (
    *("projects_apikey", "projects_widget", "projects_invitation", "projects_member", "projects_source"),
    *("jobs_modelcall", "jobs_job", "tools_booking", "todos_todocall", "todos_todo"),
    *("conversations_promptsection", "conversations_conversation"),
)
LAST = ("privacy_organizationdeletion",)
# Left for `conversations.files.upkeep`, which deletes these rows with their objects.
LEFT = ("conversations_storedobject",)
# References in a circle, which are cut first.
CIRCLES = (("conversations_persona", "merged_into_id"), ("projects_project", "agent_version_id"))

_CUT = "update {table} set {column} = null where organization_id = %s and {column} is not null"
_DUE = """
select organization_id from privacy_organizationdeletion where due_at <= clock_timestamp() order by due_at limit 1
"""
_REFERENCES = """
select c.conrelid::regclass::text, c.confrelid::regclass::text from pg_constraint c
where c.contype = 'f' and c.conrelid <> c.confrelid and c.connamespace = 'public'::regnamespace
"""


def request_deletion(organization: Organization, *, by: User, typed: str, at_once: bool) -> OrganizationDeletion:
    """Request the deletion of an organization, at once or after seven days. Raises Unprocessable for a wrong name,
    Conflict if it was requested already.
    """
    if typed.strip() != organization.name.strip():
        message = gettext("Type the organization’s name as it is written: {name}").format(name=organization.name)
        raise Unprocessable("wrong_name", message, field="name")
    if OrganizationDeletion.objects.exists():
        raise Conflict(gettext("The deletion was requested already."))
    due_at = timezone.now() if at_once else timezone.now() + GRACE
    made = OrganizationDeletion.objects.create(due_at=due_at, requested_by=person(by)[:400])
    record_change(
        AuditAction.DELETION_REQUESTED,
        organization_id=organization.pk,
        by=by,
        subject=organization.name,
        after={"due": due_at.isoformat(timespec="seconds")},
    )
    return made


def cancel_deletion(organization: Organization, *, by: User) -> None:
    """Take the request back. Raises Conflict once the deletion has begun, or without a request."""
    deleted, _ = OrganizationDeletion.objects.filter(due_at__gt=Now()).delete()
    if not deleted:
        raise Conflict(gettext("There is nothing to take back, or the deletion has begun."))
    record_change(AuditAction.DELETION_CANCELLED, organization_id=organization.pk, by=by, subject=organization.name)


def delete_organizations() -> None:
    """Carry out the deletions that are due; a sweep hook. One transaction at a time in the whole system."""
    ends_at = time.monotonic() + SECONDS_PER_SWEEP
    while time.monotonic() < ends_at and (organization_id := _find_due()) is not None:
        try:
            if not _work(organization_id):
                return
        except Exception:  # the worker's boundary: it is tried again in the next sweep
            log.exception("Organization %s could not be deleted further.", organization_id)
            return


def digest_of(organization_id: UUID) -> str:
    """The digest by which a deleted organization is recognized in an older backup."""
    return hashlib.sha256(str(organization_id).encode()).hexdigest()


def _work(organization_id: UUID) -> bool:
    """Delete a bounded number of rows and commit. False if another worker is at it."""
    with transaction.atomic(using="ops"):
        if not _run("select pg_try_advisory_xact_lock(%s)", _LOCK)[0][0]:
            return False
        is_over = not _delete_next(organization_id)
        if is_over:
            _delete_organization(organization_id)
        failpoint("organization.pre_commit")
    failpoint("organization.step")
    if is_over:
        log.info("Organization %s was deleted.", organization_id)
    return True


def _delete_next(organization_id: UUID) -> bool:
    """Delete rows of the first table that has any. False if none has."""
    for table, column in CIRCLES:
        _write(_CUT.format(table=table, column=column), organization_id)
    for table in _tables():
        most = CONVERSATIONS if table == "conversations_conversation" else ROWS
        if table not in LAST and _delete_rows(table, organization_id, most=most):
            return True
    return False


def _delete_rows(table: str, organization_id: UUID, *, most: int) -> int:
    sql = f"delete from {table} where id = any(array(select id from {table} where organization_id = %s limit {most}))"  # noqa: S608 - tables of our own
    return _write(f"{sql} and organization_id = %s", organization_id, organization_id)


def _delete_organization(organization_id: UUID) -> None:
    """Delete the last rows, and keep a digest: a restored backup must not bring the organization back."""
    for table in LAST:
        _delete_rows(table, organization_id, most=ROWS)
    _write("delete from projects_organization where id = %s", organization_id)
    _write(
        "insert into privacy_deletedorganization (digest, deleted_at) values (%s, clock_timestamp()) on conflict do nothing",
        digest_of(organization_id),
    )


@cache
def _tables() -> tuple[str, ...]:
    """The tables of tenants in the order of their deletion: those that refer to others before these."""
    ours = {contents.table for contents in TABLES} - {"projects_organization", *LEFT}
    sorter: TopologicalSorter[str] = TopologicalSorter({table: [] for table in ours})
    for child, parent in _run(_REFERENCES):
        if {child, parent} <= ours and (child, parent) not in _circular():
            sorter.add(parent, child)
    rest = [table for table in sorter.static_order() if table not in FIRST]
    return (*FIRST, *rest)


def _circular() -> set[tuple[str, str]]:
    """References that are cut or go along with a conversation."""
    inside = ("conversations_turn", "conversations_message", "conversations_directives", "conversations_summary")
    return {
        ("projects_project", "projects_agentversion"),
        *((one, other) for one in (*inside, "conversations_conversation") for other in inside),
    }


def _find_due() -> UUID | None:
    rows = _run(_DUE)
    return rows[0][0] if rows else None


def _run(sql: str, *values: Any) -> list[tuple[Any, ...]]:
    with connections["ops"].cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())


def _write(sql: str, *values: Any) -> int:
    with connections["ops"].cursor() as cursor:
        cursor.execute(sql, values)
        return int(cursor.rowcount)
