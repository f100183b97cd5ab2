"""Creates tenants by copying the rows of one that the product's services created, with new ids, secrets and times.

Most tests begin with a tenant. The services need sixteen statements to create one, a copy needs one.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from django.utils import timezone

from projects.models import ApiKey, Organization, Project, User
from tenancy.ids import uuid7
from tests.bypass_rls import bypass_rls

# Without what a running worker may have added already.
TABLES = """
select c.oid::regclass::text from pg_class c join pg_attribute a on a.attrelid = c.oid
where a.attname = 'organization_id' and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
and c.relname <> 'privacy_retentionrun'
"""
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?\+00:00")
# The columns with a name, and those with the number of a person. Copies get numbers that the sequence never reaches.
NAMED = {"projects_organization": "name", "projects_project": "name", "projects_auditentry": "project_name"}
NUMBERED = {"projects_user": "id", "projects_member": "user_id", "projects_agentversion": "author_id"}
NAME, PERSON = "<its name>", "<its owner>"
_people = count(10**6)


@dataclass(frozen=True)
class NewTenant:
    """A new tenant: an organization with one project, its owner, and the secret of the project's key."""

    organization: Organization
    project: Project
    owner: User
    key: str


class TenantFactory:
    """The rows of a new tenant as one text, split at the values that differ in each copy."""

    def __init__(self, made: NewTenant) -> None:
        # Copied, because the test that it was made for may change its objects.
        self._made, self._at = copy.deepcopy(made), timezone.now()
        rows = rows_of(made)
        text = json.dumps(rows)
        self._ids, self._moments = sorted(set(ID.findall(text))), set(MOMENT.findall(text))
        fixed = [made.key[:11], ApiKey.digest_of(made.key), made.project.slug, made.owner.email, NAME, PERSON]
        self._parts = re.split(f"({'|'.join(map(re.escape, [*self._ids, *self._moments, *fixed]))})", text)
        self._statement = _insertion_of(list(rows))

    def make(self, name: str, *, email: str) -> NewTenant:
        """Store a copy and return it."""
        made, key, age = self._made, ApiKey.make_secret(), timezone.now() - self._at
        ids = dict(zip(self._ids, sorted(str(uuid7()) for _ in self._ids), strict=True))
        slug, person = Project.make_slug(name), next(_people)
        own = {
            **ids,
            **{moment: (datetime.fromisoformat(moment) + age).isoformat() for moment in self._moments},
            made.key[:11]: key[:11],
            ApiKey.digest_of(made.key): ApiKey.digest_of(key),
            made.project.slug: slug,
            made.owner.email: json.dumps(email)[1:-1],
            NAME: json.dumps(name)[1:-1],
            PERSON: str(person),
        }
        bypass_rls(self._statement, "".join(own.get(part, part) for part in self._parts))
        owner = _again(made.owner, ids, age, id=person, email=email)
        organization = _again(made.organization, ids, age, name=name)
        project = _again(made.project, ids, age, name=name, slug=slug)
        project.agent_version = _again(made.project.agent_version, ids, age, author_id=person)
        return NewTenant(organization, project, owner, key)


def _again(row: Any, ids: dict[str, str], age: timedelta, **changed: Any) -> Any:
    """The model instance of a copied row."""
    fresh = copy.copy(row)
    fresh._state = copy.copy(row._state)
    fresh._state.fields_cache = {}
    for name, value in vars(row).items():
        if isinstance(value, UUID):
            setattr(fresh, name, UUID(ids[str(value)]))
        elif isinstance(value, datetime):
            setattr(fresh, name, value + age)
        elif isinstance(value, dict):
            setattr(fresh, name, copy.deepcopy(value))
    vars(fresh).update(changed)
    return fresh


def rows_of(made: NewTenant) -> dict[str, list[dict[str, Any]]]:
    """All rows of a tenant by table, with placeholders for names and numbers."""
    found = {
        "projects_user": _stored("projects_user", "id", made.owner.pk),
        "projects_organization": _stored("projects_organization", "id", made.organization.pk),
        **{table: _stored(table, "organization_id", made.organization.pk) for (table,) in bypass_rls(TABLES)},
    }
    for places, value, mark in ((NAMED, made.organization.name, NAME), (NUMBERED, made.owner.pk, PERSON)):
        for table, column in places.items():
            for row in found[table]:
                row[column] = mark if row[column] == value else row[column]
    return {table: rows for table, rows in found.items() if rows}


def _stored(table: str, column: str, value: Any) -> list[dict[str, Any]]:
    return [row for (row,) in bypass_rls(f"select to_jsonb(t) from {table} t where {column} = %s", value)]


def _insertion_of(tables: list[str]) -> str:
    inserts = [
        f"{table}_made as (insert into {table} select made.* from said, jsonb_populate_recordset(null::{table}, rows -> '{table}') made)"
        for table in tables
    ]
    return f"with said as (select %s::jsonb as rows), {', '.join(inserts)} select"
