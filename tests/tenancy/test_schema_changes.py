"""The check that a migration can be applied while the version before it runs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.db import connections, transaction

from tenancy.releases import RELEASES
from tenancy.schema_changes import LARGE, Problem, problems, read_schema
from tests.test_architecture import ROOT

pytestmark = pytest.mark.usefixtures("_schema")

SMALL, BIG = "projects_widget", "conversations_message"


def found(statement: str, *, is_atomic: bool = True) -> list[Problem]:
    """The problems of a statement, which is rolled back."""
    with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
        before = read_schema(cursor)
        cursor.execute(statement)
        after = read_schema(cursor)
        transaction.set_rollback(True, using="owner")
    return list(problems(before, after, is_atomic=is_atomic))


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (f"alter table {SMALL} drop column updated_at", f"removes {SMALL}.updated_at, which the running version uses"),
        (f"alter table {SMALL} rename updated_at to changed_at", f"renames {SMALL}.updated_at, which the running"),
        (
            f"alter table {SMALL} alter updated_at type text",
            f"changes {SMALL}.updated_at from timestamp with time zone",
        ),
        (f"alter table {SMALL} add column note text not null", f"adds {SMALL}.note without a default"),
        (f"alter table {BIG} alter turn_id set not null", f"makes {BIG}.turn_id NOT NULL"),
        (f"drop table {SMALL} cascade", f"removes the table {SMALL}"),
        (f"alter table {SMALL} rename to widgets", f"renames the table {SMALL}"),
        (f"create index slow on {BIG} (content)", f"builds the index slow while nobody can write {BIG}"),
        (f"create unique index only_one on {SMALL} (updated_at)", "adds the unique index only_one"),
        (f"alter table {BIG} add column at timestamptz default clock_timestamp()", f"rewrites the table {BIG}"),
        (f"alter table {SMALL} add constraint few check (updated_at > '2000-01-01')", "adds the check few"),
        (
            f"alter table {BIG} add constraint own foreign key (turn_id) references conversations_turn",
            f"checks all rows of {BIG} for own under a lock",
        ),
    ],
)
def test_what_stops_a_running_version_is_found(statement: str, sentence: str) -> None:
    assert any(problem.sentence.startswith(sentence) for problem in found(statement))


@pytest.mark.parametrize(
    "statement",
    [
        f"alter table {BIG} add column note text",
        f"alter table {BIG} add column note text not null default ''",
        f"alter table {BIG} alter role type varchar(200)",
        f"alter table {BIG} alter turn_id drop not null",
        f"alter table {BIG} add constraint own foreign key (turn_id) references conversations_turn not valid",
        f"create index quick on {SMALL} (updated_at)",
        f"create unique index no_stricter on {SMALL} (updated_at, id)",
        "create table new_things (id int primary key, name text not null unique check (name <> ''))",
        f"alter table {BIG} add column stars int, add constraint few check (stars >= 0) not valid",
        "drop index conversation_closed",
    ],
)
def test_what_the_running_version_does_not_notice_is_allowed(statement: str) -> None:
    assert found(statement) == []


def test_an_index_may_be_built_outside_a_transaction() -> None:
    assert found(f"create index slow on {BIG} (content)", is_atomic=False) == []


def test_every_large_table_exists() -> None:
    with connections["owner"].cursor() as cursor:
        assert LARGE - {name for name, _ in read_schema(cursor).tables.values()} == set()


@pytest.mark.parametrize("release", RELEASES)
def test_the_migrations_since_each_release_stop_nothing(release: str) -> None:
    command = [sys.executable, "manage.py", "check_migrations", "--since", release]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
