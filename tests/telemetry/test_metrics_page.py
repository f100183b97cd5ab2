"""`/metrics`: the figures of every process of the machine, for the operator's token."""

from __future__ import annotations

import time
import urllib.request

import pytest

from jobs.claims import claim
from jobs.lanes import lane_of
from jobs.models import Job
from tests.bypass_rls import bypass_rls
from tests.conversations.conftest import begin
from tests.processes import ForkServer, until
from tests.telemetry.conftest import ask, page_with


def test_a_scraper_with_the_token_gets_prometheus_text(web) -> None:
    answer = ask(f"{web}/metrics")
    assert (answer.status, answer.content_type) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert page_with(web, "makegood_info").value("makegood_info") == 1


@pytest.mark.parametrize(
    "authorization", [None, "", "scrape", "Bearer ", "Bearer wrong", "Bearer scrape2", "Basic scrape"]
)
def test_anyone_else_gets_404(web, authorization) -> None:
    assert ask(f"{web}/metrics", authorization=authorization).status == 404


def test_the_page_only_takes_get(web) -> None:
    assert ask(f"{web}/metrics", method="POST").status == 404


def test_a_scraper_may_ask_by_any_name_of_the_machine(web) -> None:
    """Prometheus asks by the IP address of a container, which no setting lists."""
    request = urllib.request.Request(
        f"{web}/metrics", headers={"Authorization": "Bearer scrape", "Host": "10.1.2.3:8000"}
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        assert response.status == 200


def test_a_turn_is_counted_in_all_processes(web, tenant, processes: ForkServer) -> None:
    processes.worker(queues="replies")
    processes.worker(queues="work")
    talk = begin(tenant)
    talk.exchange("Could you text me the opening hours? My number is +39 347 555 0142")
    # Each process records on its own.
    page_with(web, "makegood_job_seconds_count", lane="reply")
    page_with(web, "makegood_turns_total", status="done", process="replies-0")
    page = page_with(web, "makegood_effects_total", kind="sms", state="done")
    assert page.value("makegood_turns_total", status="done", origin="message", process="replies-0") == 1
    assert page.value("makegood_first_token_seconds_count") == 1
    assert page.value("makegood_jobs_finished_total", lane="tool_caller", state="done", process="work-0") == 1
    assert page.value("makegood_job_seconds_count", lane="reply") == 1
    assert page.value("makegood_model_calls_total", outcome="ok", process="replies-0") == 1
    assert page.value("makegood_model_tokens_total", kind="input") > 100
    assert page.value("makegood_effects_total", kind="sms", state="sending") == 1


def test_requests_are_counted_by_area_and_status(web, tenant) -> None:
    ask(f"{web}/api/v1/attributes", authorization=tenant.headers["Authorization"])
    ask(f"{web}/api/v1/attributes", authorization="Bearer nobody")
    page_with(web, "makegood_http_requests_total", status="401")
    page = page_with(web, "makegood_http_request_seconds_count", least=2, area="api")
    assert page.value("makegood_http_requests_total", area="api", method="GET", status="200") == 1
    assert page.value("makegood_http_requests_total", area="api", method="GET", status="401") == 1
    assert page.value("makegood_http_request_seconds_count", area="api") == 2


def test_no_label_names_a_tenant(web, tenant, processes: ForkServer) -> None:
    processes.worker()
    begin(tenant).exchange("Hello")
    page = page_with(web, "makegood_turns_total").text
    assert str(tenant.organization.pk) not in page
    assert "organization" not in page


def test_waiting_jobs_have_an_age(web, tenant) -> None:
    begin(tenant).say("Hello")
    bypass_rls("update jobs_job set run_after = clock_timestamp() - interval '90 seconds'")
    page = ask(f"{web}/metrics")
    assert page.value("makegood_jobs", lane="reply", state="queued") == 1
    assert 90 <= page.value("makegood_jobs_oldest_due_seconds", lane="reply") < 120
    assert page.value("makegood_jobs_oldest_due_seconds", lane="effect") == 0


def test_a_job_of_the_future_is_not_overdue(web, tenant) -> None:
    begin(tenant).say("Hello")
    bypass_rls("update jobs_job set run_after = clock_timestamp() + interval '1 hour'")
    assert ask(f"{web}/metrics").value("makegood_jobs_oldest_due_seconds", lane="reply") == 0


def test_running_and_failed_jobs_are_counted(web, tenant) -> None:
    begin(tenant).say("Hello")
    begin(tenant, external_id="another").say("Hello")
    claim([lane_of("reply")], limit=1)
    with tenant.tx():
        Job.objects.filter(state="queued").update(state="failed")
    page = ask(f"{web}/metrics")
    assert page.value("makegood_jobs", lane="reply", state="running") == 1
    assert page.value("makegood_jobs", lane="reply", state="failed") == 1


def test_figures_of_a_killed_process_are_gone(web, processes: ForkServer) -> None:
    worker = processes.worker(queues="work")
    until(lambda: ask(f"{web}/metrics").samples("makegood_info", process="work-0"), what="the worker's figures")
    worker.kill()
    assert not ask(f"{web}/metrics").samples("makegood_info", process="work-0")


def test_a_restarted_process_takes_the_name_of_the_dead_one(web, processes: ForkServer) -> None:
    """So a thousand restarts don't make a thousand series."""
    for _ in range(2):
        worker = processes.worker(queues="work")
        until(lambda: ask(f"{web}/metrics").samples("makegood_info", process="work-0"), what="the worker's figures")
        worker.kill()
    names = {labels["process"] for labels, _ in ask(f"{web}/metrics").samples("makegood_info")}
    assert names == {"web-0"}


def test_a_lease_that_ran_out_is_counted(web, tenant, processes: ForkServer) -> None:
    begin(tenant).say("Hello")
    [job] = claim([lane_of("reply")], limit=1)
    bypass_rls("update jobs_job set lease_until = clock_timestamp() - interval '1 second' where id = %s", job.id)
    processes.worker()
    page_with(web, "makegood_leases_expired_total", lane="reply")


def test_an_open_stream_is_counted_until_it_ends(web, tenant) -> None:
    conversation = begin(tenant).conversation
    request = urllib.request.Request(f"{web}/api/v1/conversations/{conversation.pk}/events", headers=tenant.headers)
    with urllib.request.urlopen(request, timeout=30):
        until(lambda: ask(f"{web}/metrics").value("makegood_streams_open") == 1, what="the open stream")
    until(lambda: ask(f"{web}/metrics").value("makegood_streams_open") == 0, what="its end")


def test_the_page_works_without_the_database(web, servers) -> None:
    """An outage is when its figures are needed most."""
    page_with(web, "makegood_info")
    servers.postgres.kill()
    try:
        page = until(lambda: down(web), what="the outage in the metrics")
        assert page.value("makegood_info", process="web-0") == 1
    finally:
        servers.postgres.start()


def down(web: str):
    page = ask(f"{web}/metrics")
    return page if page.value("makegood_database_up") == 0 else None


def test_samples_tell_connections_and_memory(web, tenant) -> None:
    ask(f"{web}/api/v1/attributes", authorization=tenant.headers["Authorization"])
    page = page_with(web, "makegood_db_connections", role="mg_app")
    assert page.value("makegood_process_resident_bytes", process="web-0") > 10_000_000
    assert page.value("makegood_process_start_time_seconds", process="web-0") <= time.time()
