"""The SQL that creates the three roles."""

from __future__ import annotations

from tenancy.roles import identifier, literal, role_sql


def test_missing_passwords_become_placeholders() -> None:
    assert "PASSWORD '<password of mg_app>'" in role_sql({})


def test_quotes_in_a_password_are_escaped() -> None:
    assert literal("it's; DROP ROLE x") == "'it''s; DROP ROLE x'"


def test_quotes_in_a_name_are_escaped() -> None:
    assert identifier('a"b') == '"a""b"'


def test_no_role_may_bypass_row_level_security() -> None:
    statements = [line for line in role_sql({}).splitlines() if line.startswith(("ALTER ROLE", "CREATE ROLE"))]
    assert statements
    assert not any("SUPERUSER" in line or "BYPASSRLS" in line for line in statements)


def test_each_role_gets_its_settings_in_the_database() -> None:
    sql = role_sql({}, database="shop", settings={"mg_app": {"statement_timeout": 30000}})
    assert """ALTER ROLE mg_app IN DATABASE "shop" SET statement_timeout = '30000';""" in sql
