"""Checks of the installation: each fault gets a sentence, and what to do."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.db import connection, models
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone
from django.utils.translation import override

from jobs.claims import claim
from jobs.lanes import lane_of
from jobs.models import ModelCall
from jobs.services import fail_job
from operations import machine
from operations.finding import State
from operations.keys import SECRETS, check_keys
from operations.machine import check_certificate, check_disk, judge_end
from operations.model_servers import check_model_servers
from operations.queues import check_failed_jobs, check_queues
from operations.report import examine
from operations.servers import check_database, check_redis
from operations.tenants import check_tenants
from operations.workers import check_workers, find_workers
from projects.records.attributes import set_attribute
from tests.bypass_rls import bypass_rls
from tests.conversations.conftest import begin
from tests.operations.conftest import bad_ones, warnings
from tests.processes import ForkServer, until

# Workers


def test_a_missing_worker_is_named_with_its_command(processes: ForkServer) -> None:
    processes.worker(queues="work")
    workers = until(find_workers, what="an answer of the worker")
    section = check_workers(workers)
    assert bad_ones(section) == ["No worker for replies answers, so no customer is answered."]
    assert section.findings[0].action == "Start bin/run replies."


def test_workers_that_answer_are_listed(processes: ForkServer) -> None:
    processes.worker(queues="replies")
    processes.worker(queues="work")
    workers = until(lambda: len(found := find_workers()) == 2 and found, what="both workers")
    section = check_workers(workers)
    assert section.state is State.OK
    assert [row[1] for row in section.tables[0].rows] == ["replies", "work"]
    assert workers[0].loop_late_seconds is not None


def test_a_worker_of_another_version_is_named(processes: ForkServer, settings) -> None:
    processes.worker()
    workers = until(find_workers, what="an answer of the worker")
    settings.VERSION = "9.9.9"
    assert "runs version" in warnings(check_workers(workers))[0]


def test_workers_cannot_be_asked_without_redis(servers, database) -> None:
    servers.redis.kill()
    try:
        assert bad_ones(check_workers(find_workers())) == ["Workers can't be asked."]
        assert "Redis doesn't answer" in bad_ones(check_redis())[0]
    finally:
        servers.redis.start()


@pytest.mark.parametrize("figure", ["rdb_last_bgsave_status", "aof_last_write_status"])
def test_a_redis_that_cannot_save_is_named(monkeypatch: pytest.MonkeyPatch, figure: str) -> None:
    """It answers, and refuses writes."""
    info = {"redis_version": "7.2.4", "used_memory": 1, figure: "err"}
    monkeypatch.setattr("operations.servers._ask_redis", lambda: info)
    assert len(bad_ones(check_redis())) == 1


# Queues


def test_a_reply_that_waits_is_bad_and_other_work_a_warning(tenant) -> None:
    begin(tenant).say("Hello")
    bypass_rls("update jobs_job set run_after = clock_timestamp() - interval '40 seconds'")
    assert bad_ones(check_queues()) == ["A customer has waited 40 s for a worker."]


def test_nothing_is_wrong_with_jobs_that_just_came(tenant) -> None:
    begin(tenant).say("Hello")
    assert check_queues().state is State.OK


def test_failed_jobs_are_listed_with_their_tenant_and_reason(tenant) -> None:
    begin(tenant).say("Hello")
    [job] = claim([lane_of("reply")], limit=1)
    fail_job(job, reason="The model was away.")
    section = check_failed_jobs()
    assert warnings(section) == ["1 job has failed."]
    [row] = section.tables[0].rows
    assert (row[0], row[1], row[3]) == ("reply", tenant.organization.name, "The model was away.")
    assert section.tables[0].links == (f"/admin/jobs/job/{job.id}/change/",)


def test_the_slowest_tenants_come_first(tenant, stranger) -> None:
    for slow, one in ((9, tenant), (1, stranger)):
        begin(one).say("Hello")
        finished = "update jobs_job set state = 'done', finished_at = created_at + %s * interval '1 second'"
        bypass_rls(f"{finished} where organization_id = %s", slow, one.organization.pk)
    [table] = check_tenants().tables
    assert [row[0] for row in table.rows] == [tenant.organization.name, stranger.organization.name]
    assert table.rows[0][2] == "9.0 s"


# Model servers


def add_calls(tenant, *, number: int, error: str = "") -> None:
    with tenant.tx():
        ModelCall.objects.bulk_create(
            ModelCall(
                project=tenant.project,
                skill="reply",
                template_hash="x",
                model="gpt",
                host="models.example",
                messages=[],
                started_at=timezone.now(),
                total_ms=100,
                error=error,
            )
            for _ in range(number)
        )


def test_a_model_server_that_fails_is_named_with_its_error(tenant) -> None:
    add_calls(tenant, number=4)
    add_calls(tenant, number=6, error="unavailable")
    section = check_model_servers([])
    assert bad_ones(section) == ["6 of 10 calls to gpt at models.example failed, most with “unavailable”."]


def test_cancelled_calls_are_no_failures(tenant) -> None:
    add_calls(tenant, number=10, error="cancelled")
    assert check_model_servers([]).state is State.OK


def test_a_forgotten_model_server_is_named(database, settings) -> None:
    settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL = "", "https://api.openai.com/v1"
    [said] = warnings(check_model_servers([]))
    assert said.startswith("Neither OPENAI_API_KEY nor OPENAI_BASE_URL is set.")
    settings.OPENAI_BASE_URL = "http://vllm.example/v1"
    assert check_model_servers([]).state is State.OK


def test_paused_calls_are_named(processes: ForkServer, model, tenant) -> None:
    """Five failures in a row open the circuit breaker of the worker."""
    model.script("reply", times=0, fault="500")
    processes.worker()
    begin(tenant).say("Hello")

    def paused():
        return any("are paused" in text for text in bad_ones(check_model_servers(find_workers())))

    until(paused, what="the open breaker")


# Servers


def test_the_database_is_well_when_migrated(database) -> None:
    assert check_database().state is State.OK


def test_missing_migrations_are_counted(database) -> None:
    bypass_rls("delete from django_migrations where app = 'jobs' and name = '0007_job_trace'")
    try:
        section = check_database()
        assert bad_ones(section) == ["The database lacks 1 migration."]
        assert section.findings[-1].action == "Run manage.py migrate."
    finally:
        record("jobs", "0007_job_trace")


def test_a_newer_database_is_refused(database) -> None:
    record("jobs", "9999_of_the_future")
    try:
        assert "doesn't know" in bad_ones(check_database())[0]
    finally:
        bypass_rls("delete from django_migrations where name = '9999_of_the_future'")


def record(app: str, name: str) -> None:
    assert MigrationRecorder(connection).has_table()
    bypass_rls("insert into django_migrations (app, name, applied) values (%s, %s, now())", app, name)


def test_every_section_says_something_without_the_database(servers, database) -> None:
    servers.postgres.kill()
    try:
        sections = examine()
    finally:
        servers.postgres.start()
    assert all(section.findings for section in sections)
    assert "PostgreSQL doesn't answer" in next(bad_ones(one)[0] for one in sections if one.title == "PostgreSQL")


# The machine


@pytest.mark.parametrize(("free", "state"), [(50, State.OK), (10, State.WARN), (3, State.BAD)])
def test_a_disk_that_fills_up_is_told(monkeypatch, free: int, state: State) -> None:
    usage = machine.shutil._ntuple_diskusage(100 * 10**9, (100 - free) * 10**9, free * 10**9)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda path: usage)
    assert check_disk().state is state


@pytest.mark.parametrize(("days", "state"), [(60, State.OK), (14, State.WARN), (3, State.BAD), (-1, State.BAD)])
def test_a_certificate_that_ends_soon_is_told(days: int, state: State) -> None:
    assert judge_end("makegood.example", timezone.now() + timedelta(days=days)).state is state


@pytest.fixture(autouse=True)
def _no_kept_certificate(monkeypatch) -> None:
    monkeypatch.setattr(machine, "_kept", machine._Kept())


def test_an_address_without_tls_is_worth_a_look(settings) -> None:
    settings.BASE_URL = "http://makegood.example"
    assert warnings(check_certificate()) == ["http://makegood.example has no TLS."]


def test_a_silent_address_is_worth_a_look(settings) -> None:
    settings.BASE_URL = "https://127.0.0.1:9"
    assert "can't be reached" in warnings(check_certificate())[0]


def test_a_certificate_that_browsers_refuse_is_bad(settings, tmp_path: Path) -> None:
    with tls_server(tmp_path) as port:
        settings.BASE_URL = f"https://localhost:{port}"
        assert "Browsers refuse the certificate of localhost" in bad_ones(check_certificate())[0]


def test_the_end_of_a_trusted_certificate_is_read(settings, tmp_path: Path, monkeypatch) -> None:
    with tls_server(tmp_path) as port:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        settings.BASE_URL = f"https://localhost:{port}"
        section = check_certificate()
    assert section.state is State.OK
    assert "in 89 days" in section.findings[0].says


@contextmanager
def tls_server(directory: Path) -> Iterator[int]:
    """A server with a certificate of its own for localhost, valid for ninety days."""
    write_certificate(directory)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "cert.pem", directory / "key.pem")

    def serve() -> None:
        while True:
            try:
                plain, _ = listener.accept()
                with context.wrap_socket(plain, server_side=True) as secure:
                    secure.recv(1)
            except ssl.SSLError:
                continue
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def write_certificate(directory: Path) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=90))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (directory / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (directory / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


# Keys


def keep_secret(tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, "token", "s3cret", type="secret")


def test_secrets_of_an_older_key_are_counted(tenant, settings) -> None:
    keep_secret(tenant)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.ENCRYPTION_KEYS]
    assert warnings(check_keys()) == ["1 secret is encrypted with an older key."]


def test_a_lost_key_is_bad(tenant, settings) -> None:
    keep_secret(tenant)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert bad_ones(check_keys()) == ["1 secret can't be opened with any key of MAKEGOOD_ENCRYPTION_KEYS."]


def test_a_key_that_is_used_for_years_is_worth_a_look(tenant, settings) -> None:
    key = Fernet(settings.ENCRYPTION_KEYS[0])
    keep_secret(tenant)
    old = key.encrypt_at_time(b"x", 1_600_000_000).decode()
    bypass_rls("update projects_attribute set secret = %s where secret <> ''", old)
    assert warnings(check_keys()) == ["The first key has been used since 2020-09-13 at least."]


def test_every_column_of_secrets_is_known() -> None:
    """A new one must be listed, or a lost key would go unnoticed."""
    columns = {
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.TextField) and field.name.endswith(("secret", "secrets", "slack_url"))
    }
    assert columns == set(SECRETS)


def test_a_finding_that_is_kept_is_worded_for_each_reader(settings) -> None:
    settings.BASE_URL = "http://makegood.example"
    check_certificate()
    with override("de"):
        assert warnings(check_certificate()) == ["http://makegood.example hat kein TLS."]
