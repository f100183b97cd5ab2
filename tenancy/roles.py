"""The SQL that makes PostgreSQL's three roles and the database. Text only: no connection, no models.

`mg_owner` owns the database and migrates, `mg_app` runs, `mg_ops` claims jobs and looks up across tenants by policies
of its own. None is a superuser, none passes row-level security.
"""

from __future__ import annotations

from collections.abc import Mapping

OWNER, APP, OPS = "mg_owner", "mg_app", "mg_ops"
ROLES = (OWNER, APP, OPS)
# Stripping a role of these rights takes a superuser, which a managed server doesn't give: so look and refuse.
REFUSE_POWERFUL = """DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname IN ('mg_owner', 'mg_app', 'mg_ops') AND (rolsuper OR rolbypassrls)) THEN
    RAISE EXCEPTION 'mg_owner, mg_app and mg_ops must be neither SUPERUSER nor BYPASSRLS';
  END IF;
END $$"""


def role_sql(passwords: Mapping[str, str], *, database: str = "makegood") -> str:
    """A script for psql as an administrator, safe to run again. `passwords` by role; a missing one is a placeholder."""
    known = {role: passwords.get(role, f"<password of {role}>") for role in ROLES}
    exists = f"SELECT FROM pg_database WHERE datname = {literal(database)}"
    return "\n".join(
        [
            *(f"{statement};" for statement in role_statements(known)),
            f"SELECT {literal(create_database_statement(database))} WHERE NOT EXISTS ({exists}) \\gexec",
            f"\\connect {identifier(database)}",
            *(f"{statement};" for statement in database_statements(database)),
            "",
        ]
    )


def role_statements(passwords: Mapping[str, str]) -> list[str]:
    """Statements for any database of the server: roles and their passwords. A role with too much power is refused."""
    return [
        *(_create(role) for role in ROLES),
        REFUSE_POWERFUL,
        f"ALTER ROLE {OWNER} LOGIN CREATEDB PASSWORD {literal(passwords[OWNER])}",
        f"ALTER ROLE {APP} LOGIN PASSWORD {literal(passwords[APP])}",
        f"ALTER ROLE {OPS} LOGIN PASSWORD {literal(passwords[OPS])}",
        # An administrator who is no superuser may give a database only to a role he is a member of.
        f"GRANT {OWNER} TO CURRENT_USER",
    ]


def create_database_statement(database: str) -> str:
    """The database, owned by `mg_owner`. Not to be run inside a transaction, nor when it exists."""
    return f"CREATE DATABASE {identifier(database)} OWNER {OWNER}"


def database_statements(database: str) -> list[str]:
    """Statements to run inside `database`: who may connect, and what is granted on every table to come."""
    return [
        f"ALTER DATABASE {identifier(database)} OWNER TO {OWNER}",
        f"GRANT CONNECT ON DATABASE {identifier(database)} TO {APP}, {OPS}",
        *schema_statements(),
    ]


def schema_statements() -> list[str]:
    """What `mg_app` and `mg_ops` may do in schema public. In template1 they hold for every test database to come."""
    runtime = f"{APP}, {OPS}"
    defaults = f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} IN SCHEMA public"
    return [
        f"GRANT USAGE ON SCHEMA public TO {runtime}",
        f"{defaults} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {runtime}",
        f"{defaults} GRANT USAGE, SELECT ON SEQUENCES TO {runtime}",
    ]


def literal(text: str) -> str:
    """A quoted SQL string."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A quoted SQL name."""
    return '"' + name.replace('"', '""') + '"'


def _create(role: str) -> str:
    exists = f"EXISTS (SELECT FROM pg_roles WHERE rolname = {literal(role)})"
    return f"DO $$ BEGIN IF NOT {exists} THEN CREATE ROLE {role}; END IF; END $$"
