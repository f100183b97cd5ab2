"""One trace from the request to the effects, across processes, received by a real collector's endpoint."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from jobs.models import Job
from tests.conversations.conftest import begin
from tests.crashes.invariants import settle
from tests.processes import ForkServer, until
from tests.telemetry.receiver import CLIENT, CONSUMER, SERVER, Receiver, Span, otlp_receiver

# The spans of a turn that promises a text, of three processes.
NAMES = ("reply", "observer", "thoughts", "tool_caller", "effect", "execute_tool send_sms_tool")
MESSAGE = "Could you text me the opening hours? My number is +39 347 555 0142"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with otlp_receiver() as found:
        yield found


def post(url: str, body: dict[str, Any], *, headers: dict[str, str]) -> dict[str, Any]:
    request = urllib.request.Request(url, data=json.dumps(body).encode(), method="POST", headers=headers)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


@pytest.fixture
def spans(receiver: Receiver, processes: ForkServer, tenant) -> dict[str, Span]:
    """The spans of one message whose reply promises a text, by name."""
    _, base = processes.web(env=receiver.env)
    processes.worker(queues="replies", env=receiver.env)
    processes.worker(queues="work", env=receiver.env)
    persona = {"external_id": "ada", "phone": "+39 347 555 0142"}
    conversation = post(
        f"{base}/api/v1/conversations", {"channel": "chat", "persona": persona}, headers=tenant.headers
    )["id"]
    post(f"{base}/api/v1/conversations/{conversation}/messages", {"content": MESSAGE}, headers=tenant.headers)
    settle(tenant)
    for name in NAMES:
        until(
            lambda name=name: receiver.named(name),
            seconds=60,
            what=lambda name=name: (
                f"the span of {name} beside {[span.name for span in receiver.spans]}; {processes.logs()}"
            ),
        )
    root = until(lambda: [span for span in receiver.spans if span.name.endswith("/messages")], what="the request")[0]
    return {span.name: span for span in reversed(receiver.spans) if span.trace_id == root.trace_id}


def test_one_trace_leads_from_the_request_to_the_effect(spans) -> None:
    request = next(span for name, span in spans.items() if name.startswith("POST "))
    parents = {span.span_id: span for span in spans.values()}
    assert (request.kind, request.parent_id, request.service) == (SERVER, "", "makegood-web")
    assert parents[spans["reply"].parent_id] is request
    assert (spans["reply"].kind, spans["reply"].service) == (CONSUMER, "makegood-replies")
    for lane in ("observer", "thoughts", "tool_caller"):
        assert parents[spans[lane].parent_id] is spans["reply"], lane
        assert spans[lane].service == "makegood-work"
    assert parents[spans["effect"].parent_id] is spans["tool_caller"]
    assert parents[spans["execute_tool send_sms_tool"].parent_id] is spans["effect"]


def test_the_request_names_its_route_and_not_its_path(spans) -> None:
    request = next(span for name, span in spans.items() if name.startswith("POST "))
    assert "<uuid:" in request.name
    assert request.attributes["http.response.status_code"] == 202
    assert len(request.attributes["makegood.request.id"]) == 32


def test_model_calls_follow_the_conventions_for_generative_models(spans) -> None:
    call = next(span for name, span in spans.items() if name.startswith("chat "))
    assert call.kind == CLIENT
    assert call.name == f"chat {call.attributes['gen_ai.request.model']}"
    assert call.attributes["gen_ai.operation.name"] == "chat"
    assert call.attributes["gen_ai.usage.input_tokens"] > 0
    assert call.attributes["gen_ai.response.finish_reasons"] == ["stop"]
    assert call.attributes["server.address"] == "127.0.0.1"


def test_spans_carry_no_content(spans) -> None:
    told = json.dumps([span.attributes for span in spans.values()])
    assert "opening hours" not in told
    assert "555 0142" not in told
    assert "5550142" not in told


def test_the_first_job_of_a_worker_is_traced(receiver, processes, tenant) -> None:
    """It waits already when the worker starts."""
    begin(tenant).say("Hello")
    processes.worker(queues="replies", env=receiver.env)
    until(lambda: receiver.named("reply"), what="the span of the reply")


def test_a_clients_trace_is_linked_and_not_continued(receiver, processes, tenant) -> None:
    """A stranger must not decide which of our traces are recorded."""
    _, base = processes.web(env=receiver.env)
    theirs = "ab" * 16
    request = urllib.request.Request(f"{base}/api/v1/attributes", headers=tenant.headers)
    request.add_header("traceparent", f"00-{theirs}-{'cd' * 8}-01")
    urllib.request.urlopen(request, timeout=30).close()
    span = until(lambda: receiver.named("GET /api/v1/attributes"), what="the span of the request")[0]
    assert span.trace_id != theirs
    assert span.links == (theirs,)


def test_a_failed_model_call_is_marked_with_the_type_of_its_error(receiver, processes, tenant, model) -> None:
    model.script("reply", times=0, fault="401")
    processes.worker(queues="replies", env=receiver.env)
    begin(tenant).say("Hello")
    calls = until(lambda: [span for span in receiver.spans if span.name.startswith("chat ")], what="the failed call")
    assert calls[0].is_error
    assert calls[0].attributes["error.type"]


def test_without_tracing_the_job_still_carries_the_requests_id(processes, tenant) -> None:
    """So that the log lines of a worker can be found by the id in the response."""
    _, base = processes.web()
    request = urllib.request.Request(
        f"{base}/api/v1/conversations",
        data=json.dumps({"channel": "chat", "persona": {"external_id": "ada"}}).encode(),
        headers={**tenant.headers, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        conversation = json.load(response)["id"]
    message = urllib.request.Request(
        f"{base}/api/v1/conversations/{conversation}/messages",
        data=b'{"content": "Hello"}',
        headers={**tenant.headers, "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(message, timeout=30) as response:
        request_id = response.headers["X-Request-ID"]
    with tenant.tx():
        assert Job.objects.get(lane="reply").trace == request_id
