"""Event subscriptions on the integrations page."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse

from tests.conftest import Tenant
from tests.conversations.effects.target import Answers, Target, target_server
from tests.tools.examples import event
from tests.tools.messaging.test_integrations_page import Person
from tools.engine.custom import service
from tools.engine.events.subscribers import open_subscriber
from tools.models import EventSubscription

EVENT = "tell_kitchen"
URL = "https://example.com/events"
SECRET = re.compile(r"whsec_[\w+/=]+")


@pytest.fixture
def target(settings: Any) -> Iterator[Target]:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as server:
        yield server


@pytest.fixture
def owner(tenant: Tenant) -> Person:
    return Person(tenant, tenant.owner)


def post(person: Person, name: str, *ids: Any, **typed: Any) -> Any:
    return person.client.post(reverse(name, args=[person.tenant.project.slug, *ids]), typed, follow=True)


def add(person: Person, **typed: Any) -> Any:
    form = {"target": "endpoint", "url": URL, "events": EVENT, "is_enabled": "on", **typed}
    return post(person, "event_subscription_add", **form)


def row(person: Person) -> EventSubscription:
    with person.tenant.tx():
        return EventSubscription.objects.get()


def text_of(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def test_a_new_subscription_shows_its_secret_once(owner: Person) -> None:
    [secret] = SECRET.findall(text_of(add(owner)))
    with owner.tenant.tx():
        assert open_subscriber(EventSubscription.objects.get()).signing == [secret]
    assert secret not in owner.page()
    assert URL in owner.page()


def test_names_are_separated_by_spaces_or_commas(owner: Person) -> None:
    add(owner, events=f"{EVENT}, other_event  third_event")
    assert row(owner).events == [EVENT, "other_event", "third_event"]


def test_a_refused_form_keeps_what_was_typed(owner: Person) -> None:
    answer = add(owner, url="ftp://example.com", events="my_event")
    assert answer.status_code == 422
    assert 'value="ftp://example.com" ' in text_of(answer)
    assert 'value="my_event" ' in text_of(answer)
    assert "url can't be called" in text_of(answer)


def test_a_client_of_the_stream_needs_no_url(owner: Person) -> None:
    """The form's URL is dropped."""
    add(owner, target="stream")
    assert (row(owner).target, row(owner).url) == ("stream", "")


def test_a_subscription_is_changed(owner: Person) -> None:
    add(owner)
    post(owner, "event_subscription", row(owner).pk, target="endpoint", url=f"{URL}/2", events="")
    changed = row(owner)
    assert (changed.url, changed.events, changed.is_enabled) == (f"{URL}/2", [], False)


def test_a_subscription_is_removed(owner: Person) -> None:
    add(owner)
    post(owner, "event_subscription_remove", row(owner).pk)
    with owner.tenant.tx():
        assert not EventSubscription.objects.exists()


def test_a_new_secret_is_shown_once(owner: Person) -> None:
    first = SECRET.findall(text_of(add(owner)))
    second = SECRET.findall(text_of(post(owner, "event_subscription_secret", row(owner).pk)))
    assert len({*first, *second}) == 2
    assert SECRET.findall(owner.page()) == []


@pytest.mark.parametrize(("status", "is_ok"), [(200, True), (500, False)])
def test_a_test_event_is_sent(status: int, is_ok: bool, owner: Person, target: Target) -> None:
    target.answers(Answers(status))
    add(owner, url=target.url)
    url = reverse("event_subscription_test", args=[owner.tenant.project.slug, row(owner).pk])
    answer = owner.client.post(url, headers={"Accept": "application/json"}).json()
    assert (answer["ok"], str(status) in answer["sentence"]) == (is_ok, True)
    assert [heard.document["data"]["test"] for heard in target.log] == [True]


def test_the_result_of_a_test_event_is_on_the_page_without_a_script(owner: Person, target: Target) -> None:
    add(owner, url=target.url)
    assert "acknowledged the test event" in text_of(post(owner, "event_subscription_test", row(owner).pk))


def test_tools_without_a_subscriber_are_named(owner: Person) -> None:
    with owner.tenant.tx():
        service.save(owner.tenant.project, name=EVENT, document=event())
    assert "Events without a subscriber" in owner.page()
    add(owner)
    assert "Nobody is subscribed to" not in owner.page()


def test_an_unknown_subscription_is_404(owner: Person) -> None:
    assert post(owner, "event_subscription", uuid4()).status_code == 404
