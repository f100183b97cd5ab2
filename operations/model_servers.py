"""Check of the model servers, by the calls of the last minutes. Uses mg_ops, as superusers do."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import connections
from django.utils import timezone
from django.utils.translation import gettext

from jobs.worker_status import WorkerStatus
from operations.finding import Finding, Section, Table, bad, ok, warn
from tenancy.ids import uuid7_floor

PERIOD = timedelta(minutes=15)
MOST_READ = 50_000
MOST_SHOWN = 20
# The shares of failed calls from which something is wrong.
SOME, MANY = 0.1, 0.5
FEWEST_CALLS = 5
OPENAI = "https://api.openai.com/v1"

_CALLS = """
with recent as materialized (
    select host, model, error, total_ms from jobs_modelcall where id >= %s order by id desc limit %s)
select host, model, count(*), count(*) filter (where error not in ('', 'cancelled')),
       percentile_cont(0.95) within group (order by total_ms),
       mode() within group (order by error) filter (where error not in ('', 'cancelled'))
from recent group by host, model order by 3 desc limit %s
"""


def check_model_servers(workers: list[WorkerStatus] | None) -> Section:
    """The servers that were called, the shares of their failures, and those whose calls are paused."""
    with connections["ops"].cursor() as cursor:
        cursor.execute(_CALLS, [uuid7_floor(timezone.now() - PERIOD), MOST_READ, MOST_SHOWN])
        found = cursor.fetchall()
    findings = [*_unset(), *_failing(found), *_paused(workers or [])]
    rows = tuple(
        (host, model, str(calls), str(failed), f"{slow / 1000:.1f} s", error or "")
        for host, model, calls, failed, slow, error in found
    )
    head = (
        gettext("Server"),
        gettext("Model"),
        gettext("Calls"),
        gettext("Failed"),
        gettext("95 % within"),
        gettext("Most frequent error"),
    )
    calm = ok(_summary(len(rows)))
    return Section(gettext("Model servers"), tuple(findings) or (calm,), (Table(head, rows),) if rows else ())


def _summary(models: int) -> str:
    if models:
        return gettext("The models answer.")
    quiet = gettext("No model was called in the last %(minutes)s minutes.") % {
        "minutes": PERIOD // timedelta(minutes=1)
    }
    if not settings.OFFLINE_MODEL:
        return quiet
    offline = gettext("The offline model is configured.")
    return f"{quiet} {offline}"


def _unset() -> list[Finding]:
    """Found on an installation whose model server was forgotten."""
    if settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL != OPENAI:
        return []
    text = gettext("Neither OPENAI_API_KEY nor OPENAI_BASE_URL is set. Only projects with their own model answer.")
    return [warn(text, gettext("Set the model server, and restart every process."))]


def _failing(found: list[tuple[str, str, int, int, float, str | None]]) -> list[Finding]:
    findings = []
    for host, model, calls, failed, _, error in found:
        if calls < FEWEST_CALLS or failed / calls < SOME:
            continue
        make = bad if failed / calls >= MANY else warn
        text = gettext("%(failed)s of %(calls)s calls to %(model)s at %(host)s failed, most with “%(error)s”.") % {
            "failed": failed,
            "calls": calls,
            "model": model,
            "host": host,
            "error": error,
        }
        findings.append(make(text, gettext("See the provider's status, the key and its limits.")))
    return findings


def _paused(workers: list[WorkerStatus]) -> list[Finding]:
    paused = {provider for worker in workers for provider in worker.paused_providers}
    says = gettext("Calls to %(provider)s are paused, because it failed five times in a row.")
    return [bad(says % {"provider": provider}, gettext("See the provider's status.")) for provider in sorted(paused)]
