"""Ratings of customers: the API, the inbox, a person's page, the analytics and the CSV."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.analytics.breakdown import break_down
from conversations.analytics.period import last_days
from conversations.models import Conversation, Message, MessageRole
from tests.api.documented import DocumentedClient
from tests.conftest import Tenant
from tests.console.pages.conftest import playground, talk
from tests.console.pages.test_csv import download


def rated(tenant: Tenant, score: int, *, guest: str = "guest", name: str = "Giulia", comment: str = "") -> Conversation:
    row = talk(tenant, "Hi", guest=guest, name=name)
    with tenant.tx():
        fields = {"rating": score, "rating_comment": comment, "rated_at": timezone.now(), "rated_to": 1}
        Conversation.objects.filter(pk=row.pk).update(**fields)
    return row


def page(client: Client, tenant: Tenant, name: str, *args: object, **query: str) -> str:
    address = reverse(name, args=[tenant.project.slug, *args])
    return client.get(address, query).content.decode()


def put(client: Client, tenant: Tenant, row: Conversation, **headers: str) -> tuple[int, dict[str, object]]:
    said = json.dumps({"score": 2, "comment": "Slow."})
    address = f"/api/v1/conversations/{row.pk}/rating"
    answer = client.put(address, said, content_type="application/json", headers=headers)
    return answer.status_code, answer.json()


def with_answer(tenant: Tenant, row: Conversation) -> Conversation:
    with tenant.tx():
        Message.objects.create(conversation=row, seq=2, role=MessageRole.AGENT, content="Hello")
        Conversation.objects.filter(pk=row.pk).update(last_message=2)
    return row


def test_a_program_rates_for_its_customer(tenant: Tenant) -> None:
    row = with_answer(tenant, talk(tenant, "Hi"))
    status, body = put(DocumentedClient(headers=tenant.headers), tenant, row)
    rating = body["rating"]
    assert isinstance(rating, dict)
    assert (status, rating["score"], rating["comment"], rating["message"]) == (200, 2, "Slow.", 2)


def test_a_member_rates_only_test_conversations(owner: Client, tenant: Tenant) -> None:
    slug = {"X-Project": tenant.project.slug}
    real, test = with_answer(tenant, talk(tenant, "Hi")), with_answer(tenant, playground(tenant, "Hi"))
    assert put(owner, tenant, real, **slug)[0] == 403
    assert put(owner, tenant, test, **slug)[0] == 200


def test_the_inbox_shows_the_stars_and_the_comment(owner: Client, tenant: Tenant) -> None:
    row = rated(tenant, 2, comment="It took too long.")
    assert 'title="Rated 2 of 5"' in page(owner, tenant, "inbox", view="all")
    opened = page(owner, tenant, "conversation", row.pk)
    assert "It took too long." in opened


@pytest.mark.parametrize(("rating", "names"), [("any", {"Good", "Fair", "Bad"}), ("good", {"Good"}), ("bad", {"Bad"})])
def test_the_inbox_is_filtered_by_rating(rating: str, names: set[str], owner: Client, tenant: Tenant) -> None:
    for score, name in ((5, "Good"), (3, "Fair"), (1, "Bad")):
        rated(tenant, score, guest=name, name=name)
    talk(tenant, "Hi", guest="none", name="Unrated")
    shown = page(owner, tenant, "inbox", rating=rating)
    assert {name for name in ("Good", "Fair", "Bad", "Unrated") if f">{name}</b>" in shown} == names


def test_a_persons_page_shows_the_ratings(owner: Client, tenant: Tenant) -> None:
    row = rated(tenant, 4)
    assert 'title="Rated 4 of 5"' in page(owner, tenant, "person", row.persona_id)


def test_the_csv_has_the_rating_and_its_comment(owner: Client, tenant: Tenant) -> None:
    rated(tenant, 3, comment="=1+1")
    assert ",3,'=1+1," in download(owner, tenant, "conversations").decode()


def test_the_analytics_count_rated_and_satisfied_conversations(tenant: Tenant) -> None:
    for score, name in ((5, "a"), (4, "b"), (3, "c"), (1, "d")):
        rated(tenant, score, guest=name, name=name)
    talk(tenant, "Hi", guest="none")
    with tenant.tx():
        figures = break_down(tenant.project, last_days(timezone.now(), days=7, timezone="Europe/Rome"))
    for row in (figures.total, figures.channels[0]):
        assert (row.conversations, row.rated, row.satisfied, row.satisfaction) == (5, 4, 2, 50)


def test_the_satisfaction_leads_to_the_rated_conversations(owner: Client, tenant: Tenant) -> None:
    rated(tenant, 5)
    shown = page(owner, tenant, "analytics")
    assert "rating=any" in shown
    assert "100 %</a> <small>of 1</small>" in shown
