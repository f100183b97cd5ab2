"""Prints the SQL that creates the three roles and the database on the operator's own PostgreSQL server."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from tenancy.roles import APP, OPS, OWNER, role_sql

ALIASES = {APP: "default", OPS: "ops", OWNER: "owner"}


class Command(BaseCommand):
    help = (
        "Print the SQL that creates mg_owner, mg_app, mg_ops and the database, for psql as an administrator. "
        "Passwords and the database name come from DATABASE_URL, MIGRATE_DATABASE_URL and OPS_DATABASE_URL."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--placeholders", action="store_true", help="leave the passwords out")

    def handle(self, *args: Any, **options: Any) -> None:
        known = {role: str(settings.DATABASES[alias]["PASSWORD"]) for role, alias in ALIASES.items()}
        passwords = {} if options["placeholders"] else known
        database = str(settings.DATABASES["default"]["NAME"])
        # Each connection sets these by itself, unless a pooler of transactions is between.
        of_roles = {
            role: {**settings.DATABASES[alias]["SESSION"], "timezone": "UTC"} for role, alias in ALIASES.items()
        }
        self.stdout.write(role_sql(passwords, database=database, settings=of_roles), ending="")
