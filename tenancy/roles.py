"""SQL that creates the three PostgreSQL roles and the database. Text only: no connection, no models.

`mg_owner` owns the database and migrates. `mg_app` runs the product. `mg_ops` claims jobs and looks up tenants, by
policies of its own. None of them is a superuser or may bypass row-level security.
"""

from __future__ import annotations

from collections.abc import Mapping

OWNER, APP, OPS = "mg_owner", "mg_app", "mg_ops"
ROLES = (OWNER, APP, OPS)
# Only a superuser can revoke these attributes, and a managed server grants no superuser. So check and refuse.
REFUSE_POWERFUL = """DO $$ BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname IN ('mg_owner', 'mg_app', 'mg_ops') AND (rolsuper OR rolbypassrls)) THEN
    RAISE EXCEPTION 'mg_owner, mg_app and mg_ops must be neither SUPERUSER nor BYPASSRLS';
  END IF;
END $$"""


Settings = Mapping[str, Mapping[str, object]]


def role_sql(passwords: Mapping[str, str], *, database: str = "makegood", settings: Settings | None = None) -> str:
    """A psql script for an administrator, safe to run again.

    `passwords` maps roles to their passwords. A missing password becomes a placeholder. `settings` maps roles to
    PostgreSQL's settings by name.
    """
    known = {role: passwords.get(role, f"<password of {role}>") for role in ROLES}
    exists = f"SELECT FROM pg_database WHERE datname = {literal(database)}"
    return "\n".join(
        [
            *(f"{statement};" for statement in role_statements(known)),
            f"SELECT {literal(create_database_statement(database))} WHERE NOT EXISTS ({exists}) \\gexec",
            f"\\connect {identifier(database)}",
            *(f"{statement};" for statement in database_statements(database)),
            *(f"{statement};" for statement in setting_statements(settings or {}, database=database)),
            "",
        ]
    )


def role_statements(passwords: Mapping[str, str]) -> list[str]:
    """Statements that create the roles and set their passwords, for any database of the server.

    They fail if one of the roles is a superuser or may bypass row-level security.
    """
    return [
        *(_create(role) for role in ROLES),
        REFUSE_POWERFUL,
        f"ALTER ROLE {OWNER} LOGIN CREATEDB PASSWORD {literal(passwords[OWNER])}",
        f"ALTER ROLE {APP} LOGIN PASSWORD {literal(passwords[APP])}",
        f"ALTER ROLE {OPS} LOGIN PASSWORD {literal(passwords[OPS])}",
        # A non-superuser may assign a database only to a role that it is a member of.
        f"GRANT {OWNER} TO CURRENT_USER",
    ]


def create_database_statement(database: str) -> str:
    """The statement that creates the database, owned by `mg_owner`.

    It can't run in a transaction, and fails if the database exists.
    """
    return f"CREATE DATABASE {identifier(database)} OWNER {OWNER}"


def database_statements(database: str) -> list[str]:
    """Grants on `database`, to be run inside it: connecting, and access to all future tables."""
    return [
        f"ALTER DATABASE {identifier(database)} OWNER TO {OWNER}",
        f"GRANT CONNECT ON DATABASE {identifier(database)} TO {APP}, {OPS}",
        *schema_statements(),
    ]


def schema_statements() -> list[str]:
    """Grants for `mg_app` and `mg_ops` in schema public. Run in template1, they apply to every future test database."""
    runtime = f"{APP}, {OPS}"
    defaults = f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} IN SCHEMA public"
    return [
        f"GRANT USAGE ON SCHEMA public TO {runtime}",
        f"{defaults} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {runtime}",
        f"{defaults} GRANT USAGE, SELECT ON SEQUENCES TO {runtime}",
    ]


def setting_statements(settings: Settings, *, database: str) -> list[str]:
    """Statements that give roles their settings in `database`, from their next connection on."""
    return [
        f"ALTER ROLE {role} IN DATABASE {identifier(database)} SET {name} = {literal(str(value))}"
        for role, values in settings.items()
        for name, value in values.items()
    ]


def literal(text: str) -> str:
    """A quoted SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _create(role: str) -> str:
    exists = f"EXISTS (SELECT FROM pg_roles WHERE rolname = {literal(role)})"
    return f"DO $$ BEGIN IF NOT {exists} THEN CREATE ROLE {role}; END IF; END $$"
