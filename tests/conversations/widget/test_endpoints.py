"""The widget's endpoints: allowed pages, and visitor tokens."""

from __future__ import annotations

import pytest
from django.core import signing
from django.test import Client

from conversations.models import Conversation, Message, Persona
from conversations.widget import visitors
from projects.models import Widget
from tests.conftest import Tenant
from tests.conversations.widget.conftest import SHOP, Placed, Visitor, place_widget, refusal

DOORS = (("POST", "session"), ("POST", "messages"), ("GET", "events"), ("POST", "person"), ("POST", "rating"))


@pytest.mark.requirement("W13")
def test_a_session_returns_the_agents_appearance_and_stores_nothing(placed: Placed) -> None:
    """The server decides the capabilities, and viewing a page stores nothing."""
    answer = Visitor(placed).open()
    assert answer["Access-Control-Allow-Origin"] == SHOP
    assert answer.json()["conversation"] is None
    agent = answer.json()["agent"]
    assert agent["capabilities"] == ["ticket_escalation"]
    assert agent["theme"] == {
        "brand": "#2b4acb",
        "on": "#ffffff",
        "link_light": "#2b4acb",
        "link_dark": agent["theme"]["link_dark"],
        "position": "right",
        "scheme": "auto",
    }
    with placed.tenant.tx():
        assert not Persona.objects.exists()


def test_a_page_the_business_has_not_allowed_is_refused(visitor: Visitor) -> None:
    """At every endpoint, and without CORS headers for the page's browser."""
    near = ("https://shop.example.evil.example", "http://shop.example", "https://shop.example:8443", "null")
    cases = {**dict.fromkeys(("https://evil.example", *near), "origin_not_allowed"), "": "origin_missing"}
    for method, door in DOORS:
        for origin, code in cases.items():
            answer = visitor.ask(method, door, {}, Origin=origin)
            assert refusal(answer, 403) == code, (door, origin)
            assert "Access-Control-Allow-Origin" not in answer


def test_our_own_pages_may_show_the_widget(visitor: Visitor) -> None:
    """With a same-origin GET a browser sends only the Referer."""
    for headers in ({"Origin": "http://testserver"}, {"Origin": "", "Referer": "http://testserver/x"}):
        assert refusal(visitor.ask("GET", "events", **headers), 404) == "no_conversation"


def test_a_page_with_an_invalid_address_is_refused(visitor: Visitor) -> None:
    """A forged header is refused like a missing one."""
    answer = visitor.ask("GET", "events", Origin="", Referer="http://[::1")
    assert refusal(answer, 403) == "origin_missing"


def test_a_cors_preflight_needs_no_token(placed: Placed) -> None:
    for method, door in DOORS:
        asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization"}
        answer = Visitor(placed).ask("OPTIONS", door, **asked)
        assert (answer.status_code, answer["Access-Control-Allow-Origin"], answer["Vary"]) == (204, SHOP, "Origin")
        assert method in answer["Access-Control-Allow-Methods"]
        assert "authorization" in answer["Access-Control-Allow-Headers"]
        assert "Access-Control-Allow-Credentials" not in answer


def test_an_unknown_widget_and_a_disabled_one_are_indistinguishable(visitor: Visitor, placed: Placed) -> None:
    """Nobody can find out whether a key exists."""
    with placed.tenant.tx():
        Widget.objects.update(is_enabled=False)
    for method, door in DOORS:
        off = visitor.ask(method, door, {})
        unknown = [
            Client().generic(method, f"/widget/{key}/{door}", b"{}", headers={"Origin": SHOP})
            for key in ("pk_" + "A" * 24, "pk_x", "x%00")
        ]
        errors = [answer.json()["error"] for answer in (off, *unknown)]
        assert {answer.status_code for answer in (off, *unknown)} == {404}
        assert {(error["code"], error["message"]) for error in errors} == {("no_widget", errors[0]["message"])}


def tampered(token: str) -> str:
    return token[:-2] + ("AA" if token[-2:] != "AA" else "BB")


def test_a_forged_token_is_refused(visitor: Visitor) -> None:
    for token in ("", "x", "x" * 5000, tampered(visitor.token)):
        visitor.token = token
        assert refusal(visitor.say("Hello"), 401) == "visitor_unknown"


def test_a_token_of_another_project_is_refused(visitor: Visitor, stranger: Tenant) -> None:
    """Signed by us, for another widget."""
    theirs = Visitor(place_widget(stranger), token=visitor.token)
    assert refusal(theirs.say("Hello"), 401) == "visitor_unknown"


def test_a_token_expires(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors.time, "time", lambda: 4_000_000_000.0)
    assert refusal(visitor.say("Hello"), 401) == "visitor_unknown"


def test_a_token_signed_for_another_purpose_is_refused(visitor: Visitor) -> None:
    """A signature we made for another purpose is not a visitor token."""
    forged = signing.dumps(signing.loads(visitor.token, salt=visitors.SALT), salt="another")
    visitor.token = forged
    assert refusal(visitor.say("Hello"), 401) == "visitor_unknown"


def test_a_conversation_begins_with_the_first_message_and_is_found_again(visitor: Visitor, placed: Placed) -> None:
    """The next session in the same browser finds it; another browser does not."""
    first, second = visitor.say("Hello"), visitor.say("Are you there?")
    assert first.status_code == 202
    assert first.json()["message"]["content"] == "Hello"
    assert first.json()["conversation"] == second.json()["conversation"]
    assert visitor.open().json()["conversation"] == first.json()["conversation"]
    assert Visitor(placed).open().json()["conversation"] is None
    with placed.tenant.tx():
        assert Conversation.objects.get().channel == "chat"


def test_a_message_sent_twice_with_one_key_is_stored_once(visitor: Visitor, placed: Placed) -> None:
    """A script without a response retries under the same key."""
    answers = [visitor.say("Hello", **{"Idempotency-Key": "k1"}).json() for _ in range(2)]
    assert answers[0] == answers[1]
    with placed.tenant.tx():
        assert Message.objects.count() == 1


def test_an_invalid_message_is_refused_by_field(visitor: Visitor) -> None:
    said: list[object] = [None, " ", "\u200b", 5, "x" * 4001]
    bodies: list[dict[str, object]] = [{}, *({"content": content} for content in said)]
    for body in bodies:
        answer = visitor.ask("POST", "messages", body)
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, "content"), body
        assert answer["Access-Control-Allow-Origin"] == SHOP


def test_a_body_over_the_size_limit_is_refused(visitor: Visitor) -> None:
    assert refusal(visitor.say("x" * 17_000), 413) == "body_too_large"


def test_requests_are_rate_limited_per_visitor(visitor: Visitor) -> None:
    """Counted per visitor, with the seconds to wait."""
    answers = [
        visitor.ask("POST", "person", {"escalation": visitor.placed.widget.pk.hex, "lead": {}}) for _ in range(6)
    ]
    assert [answer.status_code for answer in answers] == [404] * 5 + [429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 60


def test_requests_are_rate_limited_per_address(placed: Placed, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new visitor for each request still comes from one address."""
    asked: list[str] = []

    def wait(bucket: str, *, per_minute: int) -> float:
        asked.append(bucket)
        return 2.5 if "address:127.0.0.1" in bucket else 0

    monkeypatch.setattr("conversations.widget.limits.seconds_to_wait", wait)
    answer = Visitor(placed).open()
    assert (answer.status_code, answer["Retry-After"], len(asked)) == (429, "3", 1)
