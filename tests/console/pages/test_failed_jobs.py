"""Jobs that failed, in plain words, and running them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from console.jobs import LANES
from jobs.lanes import lanes
from jobs.models import Job, State
from tests.conftest import Tenant
from tests.console.pages.conftest import browser, talk

MakeJob = Callable[..., Job]


def url_of(tenant: Tenant) -> str:
    return reverse("failed_jobs", args=[tenant.project.slug])


def test_the_page_shows_when_nothing_failed(owner: Client, tenant: Tenant) -> None:
    assert "No failures" in owner.get(url_of(tenant)).content.decode()


def test_a_row_shows_the_reason_its_meaning_and_the_conversation(
    owner: Client, tenant: Tenant, failed_job: MakeJob
) -> None:
    conversation = talk(tenant, "Hi", name="Giulia Ferri")
    failed_job(lane="thoughts", conversation=conversation)
    text = owner.get(url_of(tenant)).content.decode()
    for words in ("The model took too long.", "The next reply goes by older directives.", "5 attempts", "Giulia Ferri"):
        assert words in text
    assert reverse("conversation", args=[tenant.project.slug, conversation.pk]) in text


def test_every_lane_has_a_label() -> None:
    assert [lane.name for lane in lanes() if lane.name not in LANES] == []


def test_a_server_error_is_not_blamed_on_the_settings(owner: Client, tenant: Tenant, failed_job: MakeJob) -> None:
    failed_job(error="'NoneType' object is not subscriptable")
    assert "A fault of this server" in owner.get(url_of(tenant)).content.decode()


def test_run_again_queues_the_job_with_fresh_attempts(owner: Client, tenant: Tenant, failed_job: MakeJob) -> None:
    job = failed_job()
    text = owner.post(url_of(tenant), {"job": job.pk}, follow=True).content.decode()
    assert "Observer is queued again" in text
    with tenant.tx():
        job.refresh_from_db()
    assert (job.state, job.attempts) == (State.QUEUED, 0)


def test_a_job_that_has_not_failed_is_not_run_again(owner: Client, tenant: Tenant, failed_job: MakeJob) -> None:
    """Two people at once: the second one is told."""
    job = failed_job()
    owner.post(url_of(tenant), {"job": job.pk})
    text = owner.post(url_of(tenant), {"job": job.pk}, follow=True).content.decode()
    assert "Only a failed job can run again; this one is queued." in text


def test_a_job_of_a_removed_lane_is_not_run_again(owner: Client, tenant: Tenant, failed_job: MakeJob) -> None:
    job = failed_job(lane="gone")
    text = owner.post(url_of(tenant), {"job": job.pk}, follow=True).content.decode()
    assert "No app has registered the lane" in text


@pytest.mark.parametrize("job", ["", "x", "0b2cbc66-6141-486a-a102-c5de9850b089"])
def test_a_job_that_does_not_exist_is_not_found(job: str, owner: Client, tenant: Tenant) -> None:
    assert owner.post(url_of(tenant), {"job": job}).status_code == 404


def test_another_tenants_job_is_not_run_again(
    owner: Client, tenant: Tenant, stranger: Tenant, failed_job: MakeJob
) -> None:
    job = failed_job()
    client = browser(stranger.owner)
    assert client.post(url_of(stranger), {"job": job.pk}).status_code == 404
    assert client.post(url_of(tenant), {"job": job.pk}).status_code == 404
    with tenant.tx():
        assert Job.objects.get(pk=job.pk).state == State.FAILED


def test_a_viewer_sees_the_reason_but_cannot_run_it_again(viewer: Any, tenant: Tenant, failed_job: MakeJob) -> None:
    job = failed_job()
    client = browser(viewer)
    text = client.get(url_of(tenant)).content.decode()
    assert "The model took too long." in text
    assert "Run again" not in text
    assert client.post(url_of(tenant), {"job": job.pk}).status_code == 403
