"""The embedded PostgreSQL and Redis: isolation, crash, restart and cleanup."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import redis

from config import environment
from config.runner import postgres as postgres_module
from config.runner.embedded import EmbeddedServices
from config.runner.errors import StartError
from config.runner.keys import load_keys
from tenancy.roles import role_sql
from tests.runner.conftest import eventually, is_running

pytestmark = pytest.mark.whole

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys, time
from pathlib import Path
from config.runner.embedded import EmbeddedServices
services = EmbeddedServices(Path(sys.argv[1])).start()
print(services.postgres.pid, services.redis.pid, flush=True)
time.sleep(600)
"""


def write_row(services: EmbeddedServices, word: str) -> None:
    with psycopg.connect(services.env["MIGRATE_DATABASE_URL"]) as connection:
        connection.execute("create table if not exists words (word text)")
        connection.execute("insert into words values (%s)", [word])


def read_rows(services: EmbeddedServices, *, by: str = "DATABASE_URL") -> list[str]:
    with psycopg.connect(services.env[by]) as connection:
        return [word for (word,) in connection.execute("select word from words order by word")]


def test_postgres_keeps_committed_rows_after_a_crash(services: EmbeddedServices) -> None:
    write_row(services, "killed")
    services.postgres.kill()
    assert not services.postgres.is_alive
    services.postgres.restart()
    assert "killed" in read_rows(services)


def test_redis_keeps_its_keys_after_a_crash(services: EmbeddedServices) -> None:
    client = redis.Redis.from_url(services.env["REDIS_URL"])
    client.set("kept", "yes")
    services.redis.restart()
    assert client.get("kept") == b"yes"
    client.close()


@pytest.mark.parametrize("name", ["DATABASE_URL", "MIGRATE_DATABASE_URL", "OPS_DATABASE_URL"])
def test_no_role_can_bypass_row_level_security(services: EmbeddedServices, name: str) -> None:
    with psycopg.connect(services.env[name]) as connection:
        query = "select rolsuper or rolbypassrls from pg_roles where rolname = current_user"
        assert connection.execute(query).fetchone() == (False,)


@pytest.mark.parametrize("name", ["DATABASE_URL", "OPS_DATABASE_URL"])
def test_the_other_roles_can_read_the_owners_tables(services: EmbeddedServices, name: str) -> None:
    write_row(services, "granted")
    assert "granted" in read_rows(services, by=name)


def test_a_test_database_of_the_owner_has_the_same_grants(services: EmbeddedServices) -> None:
    with psycopg.connect(services.env["MIGRATE_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("create database another")
    with psycopg.connect(services.env["MIGRATE_DATABASE_URL"].replace("/makegood", "/another")) as connection:
        connection.execute("create table words as select 'inherited' as word")
    with psycopg.connect(services.env["DATABASE_URL"].replace("/makegood", "/another")) as connection:
        assert connection.execute("select word from words").fetchone() == ("inherited",)


def test_a_wrong_password_is_rejected(services: EmbeddedServices) -> None:
    url = services.env["DATABASE_URL"].replace("mg_app:", "mg_app:wrong")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url)


def test_the_role_script_can_run_twice(services: EmbeddedServices) -> None:
    server = services.postgres.service
    assert isinstance(server, postgres_module.Postgres)
    psql = [str(server.binaries / "psql"), "-v", "ON_ERROR_STOP=1", "-q", server.admin_url(database="postgres")]
    script = role_sql(load_keys(services.data_dir).roles(), database='odd "name"')
    for _ in range(2):
        subprocess.run(psql, input=script, text=True, check=True, cwd="/")


def test_two_sets_run_side_by_side_and_clean_up(services: EmbeddedServices) -> None:
    with EmbeddedServices() as other:
        write_row(other, "of the other set")
        write_row(services, "of the first set")
        assert read_rows(other) == ["of the other set"]
        pids, data_dir = (other.postgres.pid, other.redis.pid), other.data_dir
    assert not any(is_running(pid) for pid in pids)
    assert not data_dir.exists()


def test_a_second_start_reuses_data_ports_and_keys(open_tmp: Path) -> None:
    with EmbeddedServices(open_tmp / "data") as first:
        write_row(first, "from before")
        env = first.env
    with EmbeddedServices(open_tmp / "data") as second:
        assert second.env == env
        assert read_rows(second) == ["from before"]


def test_a_data_directory_can_be_used_only_once(services: EmbeddedServices) -> None:
    with pytest.raises(StartError, match=r"Another copy of Makegood runs on .*set MAKEGOOD_DATA"):
        EmbeddedServices(services.data_dir).start()


def test_servers_end_with_a_killed_process_and_can_start_again(open_tmp: Path) -> None:
    data_dir = open_tmp / "data"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(data_dir)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    pids = [int(pid) for pid in holder.stdout.readline().split()]
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with EmbeddedServices(data_dir) as services:
        write_row(services, "after the crash")
        eventually(lambda: not any(is_running(pid) for pid in pids))


def test_an_orphaned_server_is_ended_before_a_new_one_starts(open_tmp: Path) -> None:
    data_dir = open_tmp / "data"
    first = EmbeddedServices(data_dir).start()
    server = first.redis.service.program()
    first.redis.stop()
    # Started without the orphan signal, as on systems without setpriv.
    orphan = subprocess.Popen(server.command, cwd=server.cwd, stdout=subprocess.DEVNULL)
    eventually(first.redis.service.is_ready)
    first.stop()
    with EmbeddedServices(data_dir):
        assert orphan.wait(10) == 0


def test_a_stale_pid_file_does_not_end_another_process(open_tmp: Path) -> None:
    data_dir = open_tmp / "data"
    with EmbeddedServices(data_dir) as services:
        pid_file = Path(services.env["MAKEGOOD_DATA"]) / "postgres" / "postmaster.pid"
        content = pid_file.read_text().split("\n", 1)[1]
    pid_file.write_text(f"{os.getpid()}\n{content}")
    with EmbeddedServices(data_dir) as services:
        assert services.postgres.is_alive


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends PostgreSQL another account")
def test_root_places_the_cluster_where_its_account_can_enter(open_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = open_tmp / "shared"
    monkeypatch.setattr(postgres_module, "SHARED", shared)
    closed = open_tmp / "closed"
    closed.mkdir(mode=0o700)
    for _ in range(2):
        with EmbeddedServices(closed / "data") as services:
            write_row(services, "reachable")
            assert (services.data_dir / "postgres").resolve().parent == shared
    assert closed.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends PostgreSQL another account")
def test_root_runs_postgres_under_another_account(services: EmbeddedServices) -> None:
    assert os.stat(f"/proc/{services.postgres.pid}").st_uid != 0


def test_makegood_connects_to_postgres_by_its_socket(services: EmbeddedServices) -> None:
    with psycopg.connect(services.env["DATABASE_URL"]) as connection:
        assert connection.info.host.startswith("/")


def test_tcp_is_used_if_the_socket_path_is_too_long(tmp_path: Path) -> None:
    cluster = tmp_path / ("long" * 30)
    server = postgres_module.Postgres(cluster, Path("/nowhere"), None, 5432, "secret")
    assert server.url(role="mg_app", password="secret") == "postgresql://mg_app:secret@127.0.0.1:5432/makegood"


def test_options_of_a_database_url_reach_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://mg_app:a@db/makegood?sslmode=verify-full")
    assert environment.database("DATABASE_URL", role="mg_app", pool=1)["OPTIONS"]["sslmode"] == "verify-full"


def test_a_database_url_may_list_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://mg_app:a@db1:5432,db2:5433/makegood")
    config = environment.database("DATABASE_URL", role="mg_app", pool=1)
    assert (config["HOST"], config["PORT"]) == ("db1,db2", "5432,5433")
    assert config["OPTIONS"]["target_session_attrs"] == "read-write"


def test_no_startup_option_is_sent_that_a_pooler_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://mg_app:a@db/makegood")
    assert "options" not in environment.database("DATABASE_URL", role="mg_app", pool=1)["OPTIONS"]
