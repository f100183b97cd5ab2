"""Idempotency-Key: repeats get the first response."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, connections, transaction
from django.test import Client, RequestFactory

from projects.agents.services import create_key, create_project
from projects.api.idempotency import delete_old_responses, run_once
from projects.common.api_error import ApiError
from projects.models import ApiKey, Attribute, IdempotentRequest
from projects.models.key import Scope
from tests.api.conftest import error_of
from tests.conftest import Tenant

pytestmark = pytest.mark.urls("tests.api.edge")
NOTES = "/api/v1/notes"


def post(client: Client, content: str = "ciao", *, key: str | None = "key-1", address: str = NOTES) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(address, {"content": content}, content_type="application/json", headers=headers)


def identity_of(tenant: Tenant) -> str:
    with tenant.tx():
        return f"key:{ApiKey.objects.get(digest=ApiKey.digest_of(tenant.key)).pk}"


def notes_of(tenant: Tenant) -> int:
    with tenant.tx():
        return Attribute.objects.filter(key__startswith="note-").count()


def test_a_repeat_gets_the_first_response_and_writes_nothing(api: Client, tenant: Tenant) -> None:
    first, second = post(api), post(api)
    assert (second.status_code, second.json()) == (201, first.json())
    assert "Idempotent-Replayed" not in first.headers
    assert second.headers["Idempotent-Replayed"] == "true"
    assert notes_of(tenant) == 1


def test_without_a_key_every_post_counts(api: Client, tenant: Tenant) -> None:
    post(api, key=None)
    post(api, key=None)
    assert notes_of(tenant) == 2


def test_a_reused_key_with_another_body_is_refused(api: Client, tenant: Tenant) -> None:
    post(api)
    error = error_of(post(api, "other"), status=422)
    assert (error["code"], error["field"]) == ("idempotency_key_reused", "Idempotency-Key")
    assert notes_of(tenant) == 1


def test_a_reused_key_at_another_address_is_refused(api: Client, tenant: Tenant) -> None:
    """A response from one conversation is never returned for another."""
    post(api)
    assert error_of(post(api, address="/api/v1/other-notes"), status=422)["code"] == "idempotency_key_reused"
    assert notes_of(tenant) == 1


@pytest.mark.parametrize("key", ["", "x" * 256, "x" * 300, "with space", "é", "tab\there", "\x7f"])
def test_a_key_with_other_than_visible_ascii_is_refused(api: Client, tenant: Tenant, key: str) -> None:
    assert error_of(post(api, key=key), status=400)["code"] == "invalid_idempotency_key"
    assert notes_of(tenant) == 0


def test_a_key_of_255_characters_is_accepted(api: Client) -> None:
    assert post(api, key="x" * 255).status_code == 201


@pytest.mark.parametrize("content", ["fail after writing", "return an error", " "])
def test_an_error_response_is_not_stored(api: Client, content: str) -> None:
    assert post(api, content).status_code >= 400
    assert post(api, "now it goes").status_code == 201


def test_two_tenants_may_use_the_same_key(api: Client, stranger: Tenant) -> None:
    first = post(api)
    other = post(Client(headers=stranger.headers))
    assert other.status_code == 201
    assert other.json()["id"] != first.json()["id"]


def test_two_api_keys_of_a_project_may_use_the_same_key(api: Client, tenant: Tenant) -> None:
    """The second is another program, which must not read the first one's response."""
    with tenant.tx():
        secret = create_key(tenant.project, name="other", scopes=list(Scope)).secret
    other = Client(headers={"Authorization": f"Bearer {secret}"})
    first, second = post(api), post(other)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] != second.json()["id"]
    assert post(other).json() == second.json()
    assert notes_of(tenant) == 2


def test_a_member_does_not_get_an_api_keys_response(api: Client, tenant: Tenant) -> None:
    first = post(api)
    member = Client(headers={"X-Project": tenant.project.slug})
    member.force_login(tenant.owner)
    second = post(member)
    assert second.status_code == 201, second.content
    assert second.json()["id"] != first.json()["id"]


def test_two_projects_may_use_the_same_key(api: Client, tenant: Tenant) -> None:
    """Each gets its own response again, including the older one."""
    with tenant.tx():
        other = create_project("Other", config=tenant.project.agent_version.config)
        secret = create_key(other, name="other", scopes=list(Scope)).secret
    first, second = post(api), post(Client(headers={"Authorization": f"Bearer {secret}"}), "salve")
    assert (first.status_code, second.status_code) == (201, 201)
    assert post(api).json() == first.json() != second.json()


def test_50_concurrent_requests_write_one_note(api: Client, tenant: Tenant) -> None:
    start = threading.Barrier(50)

    def at_once(_: int) -> Any:
        start.wait()
        try:
            return post(Client(headers=tenant.headers))
        finally:
            for connection in connections.all(initialized_only=True):
                connection.close()

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(at_once, range(50)))
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.json()["id"] for answer in answers if answer.status_code == 201}) == 1
    assert all(answer.headers["Retry-After"] == "1" for answer in answers if answer.status_code == 409)
    assert notes_of(tenant) == 1


def test_a_key_still_in_progress_is_409_with_retry_after(api: Client, tenant: Tenant) -> None:
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with tenant.tx():
            IdempotentRequest.objects.create(
                project=tenant.project, caller=identity_of(tenant), key="key-1", body_hash="x"
            )
            held.set()
            release.wait(30)
        connections.close_all()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    response = post(api)
    release.set()
    holder.join()
    assert error_of(response, status=409)["code"] == "request_in_progress"
    assert response.headers["Retry-After"] == "1"


def test_a_request_with_a_key_waits_for_locks_like_any_other(tenant: Tenant) -> None:
    """The timeout applies to the key's own row only; no client has to retry because somebody else holds a conversation."""

    def patience() -> dict[str, str]:
        with connection.cursor() as cursor:
            cursor.execute("show lock_timeout")
            return {"patience": cursor.fetchone()[0]}

    request = RequestFactory().post("/", headers={"Idempotency-Key": "key-1"})
    with tenant.tx():
        usual = patience()
        assert run_once(tenant.project.pk, request, "ciao", patience, caller="persona:1") == usual


def test_a_page_acts_once_per_key_for_script_and_form_alike(tenant: Tenant) -> None:
    """For the same body at the same address; for others the key is refused."""
    done: list[str] = []

    def post_to(address: str, words: str, *, in_form: bool = False) -> dict[str, Any]:
        request = RequestFactory().post(address, headers={} if in_form else {"Idempotency-Key": "key-1"})

        def work() -> dict[str, str]:
            done.append(words)
            return {"said": words}

        return run_once(tenant.project.pk, request, words, work, caller="persona:1", key="key-1")

    with tenant.tx():
        assert post_to("/a", "ciao") == post_to("/a", "ciao") == post_to("/a", "ciao", in_form=True) == {"said": "ciao"}
        for address, words in (("/b", "ciao"), ("/a", "salve")):
            with pytest.raises(ApiError) as refused:
                post_to(address, words)
            assert refused.value.status_code == 422
    assert done == ["ciao"]


def test_a_waiting_repeat_runs_if_the_first_request_fails(api: Client, tenant: Tenant) -> None:
    held = threading.Event()

    def fail() -> None:
        with tenant.tx():
            IdempotentRequest.objects.create(
                project=tenant.project, caller=identity_of(tenant), key="key-1", body_hash="x"
            )
            held.set()
            wait_until_blocked()
            transaction.set_rollback(True)
        connections.close_all()

    holder = threading.Thread(target=fail)
    holder.start()
    held.wait(30)
    assert post(api).status_code == 201
    holder.join()


def wait_until_blocked() -> None:
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
    with connections["owner"].cursor() as cursor:
        for _ in range(1000):
            cursor.execute(f"{waiting} and pg_sleep(0.002) is not null")
            if cursor.fetchone()[0]:
                return


def test_responses_are_forgotten_after_a_day(api: Client, tenant: Tenant) -> None:
    post(api, key="new")
    with tenant.tx():
        for key, age in (("old", timedelta(hours=24, seconds=1)), ("younger", timedelta(hours=23, minutes=59))):
            made = UUID(int=int((datetime.now(UTC) - age).timestamp() * 1000) << 80)
            IdempotentRequest.objects.create(id=made, project=tenant.project, key=key, body_hash="x", status=201)
    assert delete_old_responses() == 1
    with tenant.tx():
        assert {row.key for row in IdempotentRequest.objects.all()} == {"new", "younger"}
