"""Indexes that are built while a table is read and written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from threading import Thread
from typing import Any

import psycopg
import pytest
from django.db import connections, migrations, models
from django.db.migrations.state import ProjectState

from tenancy.online import AddIndexOnline
from tests.processes import until

FOUND = "select i.indisvalid from pg_index i where i.indexrelid = to_regclass('online_notes')"


class Index(migrations.Migration):
    """The index of the tests, as a migration would add it."""

    atomic = False
    operations = [AddIndexOnline("note", models.Index(fields=["text"], name="online_notes"))]


@pytest.fixture
def owner(database: None) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Another connection of mg_owner, with a table."""
    with psycopg.connect(os.environ["MIGRATE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("create table online_note (id int primary key, text text)")
        yield connection
        connection.execute("drop table online_note")


def add_index() -> None:
    state = ProjectState()
    fields = [("id", models.IntegerField(primary_key=True)), ("text", models.TextField())]
    migrations.CreateModel("Note", fields).state_forwards("online", state)
    with connections["owner"].schema_editor(atomic=False) as editor:
        Index("0001", "online").apply(state, editor)


def test_the_table_stays_open_for_writes(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    """The build takes no lock that conflicts with the one that a writer holds."""
    with connections["owner"].execute_wrapper(written_meanwhile(owner)):
        add_index()
    assert owner.execute("select count(*) from online_note").fetchone() == (2,)


def written_meanwhile(owner: psycopg.Connection[tuple[object, ...]]) -> Any:
    """Before the index is built, another transaction writes to the table and stays open until the build waits for it."""

    def wrapper(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith("CREATE INDEX"):
            return execute(sql, params, many, context)
        owner.execute("begin")
        owner.execute("insert into online_note values (1, 'a')")
        committer = Thread(target=commit_once_waited_for, args=(owner,))
        committer.start()
        try:
            return execute(sql, params, many, context)
        finally:
            committer.join()

    return wrapper


def commit_once_waited_for(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    with psycopg.connect(os.environ["MIGRATE_DATABASE_URL"], autocommit=True) as watcher:
        waits = (
            "select from pg_stat_activity where query like 'CREATE INDEX CONCURRENTLY%' and wait_event_type = 'Lock'"
        )
        until(lambda: watcher.execute(waits).fetchone() is not None)
    owner.execute("insert into online_note values (2, 'b')")
    owner.execute("commit")


def test_an_unfinished_index_is_built_again(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    """A build that fails leaves an index that is kept up to date and never used."""
    owner.execute("insert into online_note values (1, 'a'), (2, 'a')")
    with pytest.raises(psycopg.errors.UniqueViolation):
        owner.execute("create unique index concurrently online_notes on online_note (text)")
    assert owner.execute(FOUND).fetchone() == (False,)
    add_index()
    assert owner.execute(FOUND).fetchone() == (True,)


def test_a_finished_index_is_kept(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    add_index()
    before = owner.execute("select to_regclass('online_notes')::oid").fetchone()
    add_index()
    assert owner.execute("select to_regclass('online_notes')::oid").fetchone() == before
