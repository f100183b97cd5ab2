"""Every error has the same shape, wherever it comes from."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.test import Client, RequestFactory

from config.asgi import application
from projects.api.errors import bad_request
from projects.api.exception_mapping import to_api_error
from projects.models import Project
from tests.api.conftest import error_of
from tests.api.live import Caller, serve
from tests.conftest import Tenant
from tests.conversations.threads import in_thread

pytestmark = pytest.mark.urls("tests.api.edge")


@pytest.fixture
def anyone() -> Client:
    return Client(raise_request_exception=False)


def test_a_conflict_is_409_with_its_message(api: Client) -> None:
    error = error_of(api.get("/api/v1/faults/conflict"), status=409)
    assert (error["code"], error["message"]) == ("wrong_state", "The todo is running; wait until it ends.")


def test_an_invalid_value_is_422(api: Client) -> None:
    error = error_of(api.get("/api/v1/faults/wrong-value"), status=422)
    assert error["message"] == "color must be True or False, not 'ture'."


@pytest.mark.parametrize("fault", ["operational", "interface"])
def test_a_database_outage_is_503_with_retry_after(api: Client, fault: str) -> None:
    response = api.get(f"/api/v1/faults/{fault}")
    assert error_of(response, status=503)["code"] == "unavailable"
    assert response.headers["Retry-After"] == "2"


def test_a_statement_canceled_by_postgresql_is_503(api: Client) -> None:
    assert error_of(api.get("/api/v1/locked"), status=503)["code"] == "unavailable"


def test_a_lock_conflict_is_503_and_not_reported_as_an_outage(tenant: Tenant) -> None:
    def hold() -> None:
        Project.objects.select_for_update(nowait=True).get(pk=tenant.project.pk)

    def hold_too() -> None:
        with tenant.tx():
            hold()

    with tenant.tx(), ThreadPoolExecutor(1) as pool:
        hold()
        with pytest.raises(OperationalError) as refused:
            in_thread(pool, hold_too).result()
    answer = to_api_error(refused.value)
    assert (answer.status_code, answer.headers) == (503, {"Retry-After": "1"})
    assert "Someone else is changing the same data" in answer.message


def test_a_page_says_that_too_much_was_sent(rf: RequestFactory) -> None:
    """Not that the browser's request couldn't be read."""
    answer = bad_request(rf.post("/admin/tools/customtool/import/"), RequestDataTooBig())
    assert answer.status_code == 413
    assert "smaller file" in answer.content.decode()


def test_a_bug_is_500_and_reveals_nothing(api: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        error = error_of(api.get("/api/v1/faults/bug"), status=500)
    assert error["code"] == "server_error"
    assert "mg_" not in error["message"]
    assert error["request_id"] in caplog.text
    assert "Traceback" in caplog.text


def test_a_view_without_a_scope_admits_nobody(api: Client) -> None:
    assert error_of(api.get("/api/v1/no-scopes"), status=500)["code"] == "server_error"


def test_a_wrong_method_is_405_with_the_allowed_methods(api: Client) -> None:
    response = api.delete("/api/v1/notes")
    error = error_of(response, status=405)
    assert (error["code"], response.headers["Allow"] in error["message"]) == ("method_not_allowed", True)


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "FROBNICATE"])
def test_an_unusual_method_is_405(api: Client, method: str) -> None:
    assert error_of(api.generic(method, "/api/v1/notes"), status=405)["code"] == "method_not_allowed"


def test_a_form_is_415(api: Client) -> None:
    error = error_of(api.post("/api/v1/notes", {"content": "a"}), status=415)
    assert error["message"] == "Send JSON with the header Content-Type: application/json."


def test_json_with_a_charset_is_accepted(api: Client) -> None:
    response = api.post("/api/v1/notes", b'{"content":"a"}', content_type="Application/JSON; charset=utf-8")
    assert response.status_code == 201


@pytest.mark.parametrize("accept", ["text/html", "text/event-stream", "image/*"])
def test_responses_are_json_whatever_the_accept_header(api: Client, accept: str) -> None:
    assert api.get("/api/v1/notes", headers={"Accept": accept}).headers["Content-Type"] == "application/json"


def test_a_parser_error_has_the_error_shape(api: Client) -> None:
    response = api.post("/api/v1/notes", b"[" * 100_000, content_type="application/json")
    assert error_of(response, status=400)["code"] == "json_too_deep"


@pytest.mark.parametrize("address", ["nothing", "notes/../1", "notes/", "x" * 10_000, "%F0%9F%92%A9", "%FF%FE"])
def test_an_unknown_address_is_404_and_leads_to_the_reference(anyone: Client, address: str) -> None:
    error = error_of(anyone.get(f"/api/v1/{address}"), status=404)
    assert (error["code"], "/api/v1/docs/" in error["message"]) == ("not_found", True)


def test_an_unknown_webhook_has_the_error_shape(anyone: Client) -> None:
    """Providers show it in their logs."""
    assert error_of(anyone.post("/hooks/nothing"), status=404)["code"] == "not_found"


def test_a_wrong_host_is_400(tenant: Tenant) -> None:
    """Only MAKEGOOD_ALLOWED_HOSTS are served, on the API's fast path too, and on every request."""
    with serve(application) as address:
        caller = Caller(address, tenant.key, {"Host": "evil.example"})
        for reply in (caller.get("/rows"), caller.get("/rows?limit=1"), caller.post("/notes", {"content": "x"})):
            assert (reply.status, reply.error["code"]) == (400, "unknown_host")


def test_too_many_parameters_are_400(api: Client) -> None:
    error = error_of(api.get("/api/v1/rows?" + "&".join(f"a{n}=1" for n in range(1100))), status=400)
    assert error["message"] == "The query or the form has more than 1,000 parameters."


@pytest.mark.parametrize(("fault", "status"), [("bug", 500), ("operational", 503)])
def test_a_plain_django_view_under_the_api_has_the_error_shape(anyone: Client, fault: str, status: int) -> None:
    error_of(anyone.get(f"/api/v1/plain/{fault}"), status=status)


@pytest.mark.parametrize(("address", "status"), [("/page/bug", 500), ("/page/operational", 503), ("/nothing", 404)])
def test_an_error_on_a_page_is_a_page(anyone: Client, address: str, status: int) -> None:
    response = anyone.get(address)
    assert response.status_code == status
    assert response.headers["Content-Type"].startswith("text/html")
    assert response.headers["X-Request-ID"]
