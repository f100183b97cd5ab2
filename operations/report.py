"""The report on the installation, which the page and the command show."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DatabaseError, connections
from django.utils.translation import gettext

from operations.files import check_files, probe_files
from operations.finding import Section, bad
from operations.keys import check_keys
from operations.machine import check_certificate, check_disk
from operations.model_servers import check_model_servers
from operations.queues import check_failed_jobs, check_queues
from operations.servers import DATABASE, check_database, check_redis, list_versions
from operations.tenants import check_tenants
from operations.workers import check_workers, find_workers

Check = Callable[[], Section]


def examine(*, writes: bool = False) -> list[Section]:
    """Every section, the most important first. Takes about a second and holds no transaction meanwhile.

    With `writes`, an object is written to each place of files, and deleted.
    """
    workers = find_workers()
    checks: tuple[tuple[str, Check], ...] = (
        (gettext("Workers"), lambda: check_workers(workers)),
        (gettext("Queues"), check_queues),
        (gettext("Failed jobs"), check_failed_jobs),
        (gettext("Model servers"), lambda: check_model_servers(workers)),
        (DATABASE, check_database),
        ("Redis", check_redis),
        (gettext("Files"), probe_files if writes else check_files),
        (gettext("Disk"), check_disk),
        (gettext("Certificate"), check_certificate),
        (gettext("Encryption keys"), check_keys),
        (gettext("Slowest tenants"), check_tenants),
        (gettext("Versions"), list_versions),
    )
    try:
        return _examine(checks)
    finally:
        connections.close_all()


def _examine(checks: tuple[tuple[str, Check], ...]) -> list[Section]:
    """The sections. Once the database doesn't answer, it isn't asked again, because each question waits for seconds."""
    sections, is_down = [], False
    for title, check in checks:
        if is_down and check in NEED_DATABASE:
            sections.append(_unknown(title))
            continue
        try:
            sections.append(check())
        except DatabaseError:
            is_down = True
            sections.append(_unknown(title))
    return sections


NEED_DATABASE = frozenset({check_queues, check_failed_jobs, check_files, probe_files, check_keys, check_tenants})


def _unknown(title: str) -> Section:
    says = gettext("Unknown, because PostgreSQL doesn't answer.")
    return Section(title, (bad(says, gettext("See %(section)s.") % {"section": DATABASE}),))
