"""The page of failed jobs: labels and retry."""

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


def test_an_empty_list_says_so(owner: Client, tenant: Tenant) -> None:
    assert "No failures" in owner.get(url_of(tenant)).content.decode()


def test_a_row_shows_reason_consequence_and_conversation(owner: Client, tenant: Tenant, failed_job: MakeJob) -> None:
    conversation = talk(tenant, "Hi", name="Giulia Ferri")
    failed_job(lane="thoughts", conversation=conversation)
    text = owner.get(url_of(tenant)).content.decode()
    for words in ("The model took too long.", "The next reply uses older directives.", "5 attempts", "Giulia Ferri"):
        assert words in text
    assert reverse("conversation", args=[tenant.project.slug, conversation.pk]) in text


def test_every_lane_has_a_label() -> None:
    assert [lane.name for lane in lanes() if lane.name not in LANES] == []


def test_unexpected_exceptions_are_labeled_as_internal_errors(
    owner: Client, tenant: Tenant, failed_job: MakeJob
) -> None:
    failed_job(error="'NoneType' object is not subscriptable")
    assert "Internal error" in owner.get(url_of(tenant)).content.decode()


def test_retrying_requeues_the_job_with_fresh_attempts(owner: Client, tenant: Tenant, failed_job: MakeJob) -> None:
    job = failed_job()
    text = owner.post(url_of(tenant), {"job": job.pk}, follow=True).content.decode()
    assert "Observer is queued again" in text
    with tenant.tx():
        job.refresh_from_db()
    assert (job.state, job.attempts) == (State.QUEUED, 0)


def test_retrying_a_job_that_did_not_fail_is_refused(owner: Client, tenant: Tenant, failed_job: MakeJob) -> None:
    """Of two simultaneous retries, the second is refused."""
    job = failed_job()
    owner.post(url_of(tenant), {"job": job.pk})
    text = owner.post(url_of(tenant), {"job": job.pk}, follow=True).content.decode()
    assert "Only a failed job can run again; this one is queued." in text


def test_retrying_a_job_of_a_removed_lane_is_refused(owner: Client, tenant: Tenant, failed_job: MakeJob) -> None:
    job = failed_job(lane="gone")
    text = owner.post(url_of(tenant), {"job": job.pk}, follow=True).content.decode()
    assert "No app has registered the lane" in text


@pytest.mark.parametrize("job", ["", "x", "0b2cbc66-6141-486a-a102-c5de9850b089"])
def test_an_unknown_job_is_not_found(job: str, owner: Client, tenant: Tenant) -> None:
    assert owner.post(url_of(tenant), {"job": job}).status_code == 404


def test_another_tenants_job_is_not_retried(
    owner: Client, tenant: Tenant, stranger: Tenant, failed_job: MakeJob
) -> None:
    job = failed_job()
    client = browser(stranger.owner)
    assert client.post(url_of(stranger), {"job": job.pk}).status_code == 404
    assert client.post(url_of(tenant), {"job": job.pk}).status_code == 404
    with tenant.tx():
        assert Job.objects.get(pk=job.pk).state == State.FAILED


def test_viewers_see_failures_read_only(viewer: Any, tenant: Tenant, failed_job: MakeJob) -> None:
    job = failed_job()
    client = browser(viewer)
    text = client.get(url_of(tenant)).content.decode()
    assert "The model took too long." in text
    assert "Run again" not in text
    assert client.post(url_of(tenant), {"job": job.pk}).status_code == 403
