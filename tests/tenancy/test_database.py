"""Tenant isolation in the database, read from PostgreSQL's catalog instead of Django's models."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, connections

from projects.models import AgentVersion, Organization
from tenancy.tenant_models import TenantForeignKey, TenantModel
from tests.tenancy.conftest import OURS, Filled
from tests.tenancy.rows import parent_of, tenant_models

TENANT = "(NULLIF(current_setting('app.organization_id'::text, true), ''::text))::uuid"
# Django's history table, in which the database sets the organization.
BORROWED = {"django_admin_log"}
TENANT_TABLES = {model._meta.db_table for model in tenant_models()} | BORROWED
APPEND_ONLY = {
    "projects_agentversion",
    "projects_auditentry",
    "tools_verdict",
    "tools_customtoolversion",
    "tools_ticketanswer",
    "tools_ticketchange",
    "todos_todoevent",
    "conversations_directives",
    "conversations_event",
    "conversations_followup",
    "conversations_summary",
    "conversations_consentchange",
}

pytestmark = pytest.mark.usefixtures("_schema")
ISOLATED = {*TENANT_TABLES, Organization._meta.db_table}


def rows_of(sql: str, *parameters: Any, using: str = "default") -> list[tuple[Any, ...]]:
    with connections[using].cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def test_a_model_with_an_organization_is_a_tenant_model() -> None:
    assert [model for model in tenant_models() if not issubclass(model, TenantModel)] == []


def test_only_these_tables_are_shared() -> None:
    """Every other table belongs to a tenant."""
    names = {row[0] for row in rows_of("select tablename from pg_tables where schemaname = 'public'")}
    django = {"django_content_type", "django_migrations", "django_session"}
    apps_of_others = {table for label in ("auth", "account", "mfa") for table in _tables_of(label)}
    people = {"projects_user", "projects_user_groups", "projects_user_user_permissions"}
    platform = {"projects_organization", "tools_platformdefinition", "privacy_deletedorganization"}
    assert names - TENANT_TABLES == {*django, *apps_of_others, *people, *platform}


def _tables_of(label: str) -> set[str]:
    return {model._meta.db_table for model in apps.get_app_config(label).get_models(include_auto_created=True)}


def test_row_level_security_is_enabled_and_forced() -> None:
    sql = (
        "select relname::text from pg_class"
        " where relnamespace = 'public'::regnamespace and relrowsecurity and relforcerowsecurity"
    )
    assert ISOLATED - {name for (name,) in rows_of(sql)} == set()


def test_each_table_has_exactly_two_policies() -> None:
    found = rows_of(
        "select tablename::text, policyname, permissive, array(select unnest(roles) order by 1)::text[], cmd, qual,"
        " with_check from pg_policies where schemaname = 'public'"
    )
    assert {table: sorted(row[1:] for row in found if row[0] == table) for table in ISOLATED} == {
        table: policies_of(table) for table in ISOLATED
    }


def policies_of(table: str) -> list[tuple[Any, ...]]:
    owner = "id" if table == "projects_organization" else "organization_id"
    shown, written = f'({owner} = ( SELECT {TENANT} AS "nullif"))', f"({owner} = {TENANT})"
    return [
        ("ops", "PERMISSIVE", ["mg_ops"], "ALL", "true", "true"),
        ("tenant", "PERMISSIVE", ["mg_app", "mg_owner"], "ALL", shown, written),
    ]


def test_no_role_bypasses_row_level_security() -> None:
    sql = "select rolname, rolsuper, rolbypassrls, rolcreaterole from pg_roles where rolname like 'mg\\_%%' order by rolname"
    roles = ("mg_app", "mg_ops", "mg_owner")
    assert rows_of(sql) == [(role, False, False, False) for role in roles]


def test_no_role_can_become_another() -> None:
    sql = "select count(*) from pg_auth_members m join pg_roles r on r.oid = m.member where r.rolname in ('mg_app', 'mg_ops')"
    assert rows_of(sql) == [(0,)]


def test_mg_owner_owns_every_table() -> None:
    sql = "select distinct tableowner::text from pg_tables where schemaname = 'public'"
    assert rows_of(sql) == [("mg_owner",)]


def test_each_connection_has_its_role() -> None:
    roles = {"default": "mg_app", "ops": "mg_ops", "owner": "mg_owner"}
    assert {alias: rows_of("select current_user::text", using=alias)[0][0] for alias in roles} == roles


def test_mg_app_cannot_create_objects() -> None:
    assert rows_of("select has_schema_privilege('public', 'create')") == [(False,)]


def test_no_function_or_view_bypasses_row_level_security() -> None:
    """A view, or a SECURITY DEFINER function, would read with the rights of mg_owner."""
    sql = "select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm')"
    assert rows_of(sql) == []
    assert rows_of("select proname::text from pg_proc where prosecdef and pronamespace = 'public'::regnamespace") == []


# References


Key = tuple[list[str], str, list[str]]


def keys_by_column() -> dict[str, list[Key]]:
    """The validated foreign keys by `table.column`: their columns, the referenced table and its columns."""
    names = "array(select attname::text from unnest({0}) k(n) join pg_attribute on attrelid = {1} and attnum = n)"
    mine, parents = names.format("conkey", "conrelid"), names.format("confkey", "confrelid")
    found = rows_of(
        f"select conrelid::regclass::text, {mine}, confrelid::regclass::text, {parents} from pg_constraint"
        " where contype = 'f' and convalidated"
    )
    keys: dict[str, list[Key]] = {}
    for table, columns, parent, targets in found:
        for column in columns:
            keys.setdefault(f"{table}.{column}", []).append((sorted(columns), parent, sorted(targets)))
    return keys


REFERENCES = [
    field
    for model in tenant_models()
    for field in model._meta.fields
    if (parent := parent_of(field)) and any(one.name == "organization" for one in parent._meta.fields)
]
# The source of a value may be deleted while the value stays, so these columns have no foreign key.
LOOSE = {
    "conversations_personafield.message_id",
    "conversations_personafield.turn_id",
    "conversations_consentchange.conversation_id",
    "conversations_consentchange.message_id",
    "tools_keptcase.turn_id",
    # Its object is deleted after it.
    "conversations_storedobject.attachment_id",
}


def test_references_use_composite_keys() -> None:
    """A composite key exists, and no simple one, which any tenant's id would satisfy."""
    keys, wanted = keys_by_column(), {name_of(field): composite_key_of(field) for field in REFERENCES}
    assert wanted.keys() >= LOOSE
    assert {name: keys.get(name, []) for name in wanted} == {
        name: [] if name in LOOSE else [key] for name, key in wanted.items()
    }


def name_of(field: Any) -> str:
    return f"{field.model._meta.db_table}.{field.column}"


def composite_key_of(field: Any) -> Key:
    parent = parent_of(field)
    assert parent
    return sorted(["organization_id", field.column]), parent._meta.db_table, ["id", "organization_id"]


def test_references_between_tenant_models_are_tenant_foreign_keys() -> None:
    plain = [field for field in REFERENCES if field.remote_field and not isinstance(field, TenantForeignKey)]
    assert plain == []


# Facts


def test_these_tables_are_append_only() -> None:
    sql = "select table_name::text from information_schema.role_table_grants where grantee = 'mg_app' and privilege_type = %s"
    insertable = {row[0] for row in rows_of(sql, "INSERT")}
    for privilege in ("UPDATE", "DELETE"):
        assert insertable - {row[0] for row in rows_of(sql, privilege)} == APPEND_ONLY
    assert rows_of(sql, "TRUNCATE") == []


def test_facts_cannot_be_changed_or_deleted(ours: Filled) -> None:
    models = [model for model in tenant_models() if model._meta.db_table in APPEND_ONLY]
    assert len(models) == len(APPEND_ONLY)
    for model in models:
        for write in (lambda rows: rows.update(id=uuid4()), lambda rows: rows._raw_delete("default")):
            with (
                pytest.raises(DatabaseError, match=f"permission denied for table {model._meta.db_table}"),
                ours.tenant.tx(),
            ):
                write(model.objects.all())


def test_facts_are_deleted_with_their_parent(ours: Filled) -> None:
    """By the foreign key, and only by it."""
    with ours.tenant.tx():
        project = ours.rows[AgentVersion].project_id  # type: ignore[attr-defined]
        with connection.cursor() as cursor:
            cursor.execute("update projects_project set agent_version_id = null where id = %s", [project])
            cursor.execute("delete from projects_project where id = %s", [project])
    with ours.tenant.tx():
        assert not AgentVersion.objects.filter(note=OURS).exists()
