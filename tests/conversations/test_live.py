"""Live streams and waiting requests, over real sockets."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from urllib.parse import urlsplit

import pytest
import redis
from django.conf import settings

from conversations.models import Event
from conversations.models.event import EventType
from tests.conversations.sse import open_stream, post_for_stream
from tests.crashes.invariants import settle
from tests.processes import until

pytestmark = pytest.mark.standing_worker


@pytest.fixture
def web(processes) -> str:
    _, url = processes.web()
    return url


def path_of(talk, rest: str = "events") -> str:
    return f"/conversations/{talk.conversation.pk}/{rest}"


def stored(talk) -> list[int]:
    """The numbers of the streamed events."""
    with talk.tenant.tx():
        events = Event.objects.filter(conversation=talk.conversation).exclude(type=EventType.SYSTEM)
        return list(events.order_by("seq").values_list("seq", flat=True))


def call(base_url, talk, method, rest, body=None, **headers):
    connection = http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=30)
    try:
        headers = {**talk.tenant.headers, "Content-Type": "application/json", **headers}
        connection.request(method, f"/api/v1{path_of(talk, rest)}", json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.requirement("W10")
def test_a_reply_streams_token_by_token(talk, web, worker, model):
    model.script("reply", text="One two three four five", gap_ms=60)
    with open_stream(web, talk.tenant, path_of(talk)) as stream:
        talk.say("Hello")
        seen = stream.until("done")
    tokens = [sent.data for sent in seen if sent.event == "token"]
    assert len(tokens) > 2
    assert "".join(token["text"] for token in tokens) == "One two three four five"
    assert [token["offset"] for token in tokens] == [
        len("".join(t["text"] for t in tokens[:n])) for n in range(len(tokens))
    ]


def test_events_come_once_and_in_order(talk, web, worker):
    with open_stream(web, talk.tenant, path_of(talk)) as stream:
        talk.exchange("Hello")
        talk.exchange("Please text me the hours")
        last = stored(talk)[-1]
        numbers = []
        for sent in stream:
            numbers += [sent.id] if sent.id else []
            if sent.id == last:
                break
    assert numbers == stored(talk)


def test_a_stream_resumes_after_the_last_event_seen(talk, web, worker):
    talk.exchange("Hello")
    middle = stored(talk)[2]
    with open_stream(web, talk.tenant, path_of(talk), **{"Last-Event-ID": str(middle)}) as stream:
        first = next(iter(stream))
    assert first.id == stored(talk)[3]


@pytest.mark.parametrize("wrong", ["-1", "9e99", "999999", "abc", "٣"])
def test_an_unknown_position_gets_a_reset_with_the_whole_conversation(wrong, talk, web, worker):
    talk.exchange("Hello")
    header = wrong.encode().decode("latin-1")
    with open_stream(web, talk.tenant, path_of(talk), **{"Last-Event-ID": header}) as stream:
        reset = next(iter(stream))
    assert reset.event == "reset"
    assert [message["seq"] for message in reset.data["messages"]] == [1, 2]
    assert reset.id == talk.reload().last_event


def test_a_second_tab_sees_the_reply_so_far(talk, web, worker, model):
    model.script("reply", text="One two three four five six seven eight", gap_ms=150)
    with open_stream(web, talk.tenant, path_of(talk)) as first:
        talk.say("Hello")
        first.until("token")
        with open_stream(web, talk.tenant, path_of(talk)) as second:
            tokens = [sent.data for sent in second.until("done") if sent.event == "token"]
    assert tokens[0]["offset"] == 0
    assert "".join(token["text"] for token in tokens) == "One two three four five six seven eight"


def test_a_redis_wipe_does_not_stop_a_stream(talk, web, worker):
    with open_stream(web, talk.tenant, path_of(talk)) as stream:
        talk.say("Hello")
        stream.until("done")
        with redis.Redis.from_url(settings.REDIS_URL) as client:
            client.flushall()
        talk.say("Still there?")
        assert stream.until("done")[-1].data["status"] == "done"


def test_a_redis_restart_does_not_stop_a_stream(talk, web, worker, servers, processes):
    with open_stream(web, talk.tenant, path_of(talk)) as stream:
        talk.say("Hello")
        stream.until("done")
        servers.redis.restart()
        talk.say("Still there?")
        assert stream.until("done")[-1].data["status"] == "done"


def test_a_restart_of_the_web_process_loses_no_event(talk, processes, worker):
    child, url = processes.web()
    with open_stream(url, talk.tenant, path_of(talk)) as stream:
        talk.say("Hello")
        seen = [sent.id for sent in stream.until("done") if sent.id]
    child.kill()
    talk.exchange("Still there?")
    _, url = processes.web()
    last = stored(talk)[-1]
    with open_stream(url, talk.tenant, path_of(talk), **{"Last-Event-ID": str(seen[-1])}) as stream:
        for sent in stream:
            seen += [sent.id] if sent.id else []
            if sent.id == last:
                break
    assert seen == stored(talk)


def test_a_web_process_killed_during_replay_loses_no_event(talk, processes, worker):
    talk.exchange("Hello")
    dying, url = processes.web(crash_at="sse.mid_replay:4")
    seen: list[int] = []
    with (
        contextlib.suppress(http.client.HTTPException, OSError),
        open_stream(url, talk.tenant, path_of(talk), **{"Last-Event-ID": "0"}) as stream,
    ):
        for sent in stream:
            seen += [sent.id] if sent.id else []
    dying.wait()
    assert len(seen) < len(stored(talk))
    _, url = processes.web()
    with open_stream(url, talk.tenant, path_of(talk), **{"Last-Event-ID": str(max(seen, default=0))}) as stream:
        for sent in stream:
            seen += [sent.id] if sent.id else []
            if sent.id == stored(talk)[-1]:
                break
    assert seen == stored(talk)


def test_a_post_may_wait_for_its_reply(talk, web, worker, model):
    model.script("reply", text="Good evening!")
    status, body = call(web, talk, "POST", "messages?wait=20", {"content": "Hello"})
    assert (status, body["reply"]["content"], body["turn"]["status"]) == (200, "Good evening!", "done")


def test_a_wait_that_times_out_returns_202(talk, web, model):
    status, body = call(web, talk, "POST", "messages?wait=0.3", {"content": "Hello"})
    assert (status, body["turn"]["status"]) == (202, "queued")


def test_a_wait_follows_the_superseding_turn(talk, web, worker, model):
    model.script("reply", times=1, fault="stall", after_tokens=1)
    model.script("reply", times=1, text="Good evening to both!")
    answers = []
    waiting = threading.Thread(
        target=lambda: answers.append(call(web, talk, "POST", "messages?wait=20", {"content": "Hello"}))
    )
    waiting.start()
    until(lambda: model.requests("reply"), what="the first call")
    second = talk.say("Anyone?")
    waiting.join(timeout=20)
    [(status, body)] = answers
    assert (status, body["reply"]["content"], body["turn"]["id"]) == (200, "Good evening to both!", str(second.pk))


def test_a_post_may_stream_its_turn(talk, web, worker, model):
    model.script("reply", text="Good evening!")
    with post_for_stream(web, talk.tenant, path_of(talk, "messages"), {"content": "Hello"}) as stream:
        seen = list(stream)
    events = [sent.event for sent in seen]
    assert events[0] == "message"
    assert "token" in events
    assert events[-1] == "done"


def test_a_repeated_post_may_wait_for_the_reply_to_the_first(talk, web, worker, model):
    model.script("reply", text="Good evening!")
    key = {"Idempotency-Key": "evening-1"}
    _, first = call(web, talk, "POST", "messages", {"content": "Hello"}, **key)
    status, body = call(web, talk, "POST", "messages?wait=20", {"content": "Hello"}, **key)
    assert (status, body["message"], body["reply"]["content"]) == (200, first["message"], "Good evening!")


def test_a_repeated_post_may_stream_the_turn_of_the_first(talk, web, worker, model):
    model.script("reply", text="Good evening!")
    body, key = {"content": "Hello"}, {"Idempotency-Key": "evening-1"}
    _, first = call(web, talk, "POST", "messages", body, **key)
    with post_for_stream(web, talk.tenant, path_of(talk, "messages"), body, **key) as stream:
        seen = list(stream)
    assert (seen[0].event, seen[0].data["id"]) == ("message", first["message"]["id"])
    assert seen[-1].event == "done"


def test_an_urgent_message_makes_the_agent_speak(talk, web, worker, model):
    talk.exchange("Hello")
    model.script("reply", text="The table is free.")
    status, _ = call(web, talk, "POST", "events", {"idn": "urgent_message", "payload": {"text": "Table 4 is free"}})
    settle(talk.tenant)
    assert status == 202
    assert "Table 4 is free" in model.requests("reply")[-1]["messages"][-1]["content"]
    with talk.tenant.tx():
        assert talk.conversation.messages.order_by("-seq").first().content == "The table is free."


def test_the_agent_stops_after_three_turns_of_its_own(talk, web, worker):
    """This ends loops."""
    talk.exchange("Hello")
    for _ in range(4):
        _, body = call(web, talk, "POST", "events", {"idn": "urgent_message", "payload": {"text": "News"}})
        settle(talk.tenant)
    assert body["turn"] is None
    assert talk.reload().last_turn == 4
