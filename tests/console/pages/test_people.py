"""The list of people, one person's page, and the page that merges two."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from console.customers import listing
from conversations.models import Conversation, Persona
from tests.conftest import Tenant
from tests.console.pages.conftest import browser, talk


def url(tenant: Tenant, row: Conversation | None = None, *, name: str = "person") -> str:
    slug = tenant.project.slug
    return reverse(name, args=[slug, row.persona_id]) if row else reverse("people", args=[slug])


def names(client: Client, tenant: Tenant, **query: str) -> list[str]:
    return [row.name for row in client.get(url(tenant), query).context["rows"]]


def test_people_are_listed_newest_first(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi", guest="1", name="Giulia Ferri")
    talk(tenant, "Hi", guest="2", name="Jonas Weber")
    assert names(owner, tenant) == ["Jonas Weber", "Giulia Ferri"]


@pytest.mark.parametrize("text", ["giulia", "ferri", "0142", "giulia@", "crm-7"])
def test_a_person_is_found_by_name_number_mail_or_identifier(owner: Client, tenant: Tenant, text: str) -> None:
    talk(tenant, "Hi", guest="crm-7", name="Giulia Ferri", phone="+393475550142", email="giulia@mail.example")
    talk(tenant, "Hi", guest="2", name="Jonas Weber", phone="+393475550777", email="jonas@mail.example")
    assert names(owner, tenant, q=text) == ["Giulia Ferri"]


def test_pages_of_the_list_leave_nobody_out(owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "PAGE", 2)
    for number in range(5):
        talk(tenant, "Hi", guest=str(number), name=f"Guest {number}")
    found, query = [], ""
    while True:
        page = owner.get(url(tenant) + query).context
        found += [row.name for row in page["rows"]]
        query = page["next"]
        if not query:
            break
    assert found == [f"Guest {number}" for number in (4, 3, 2, 1, 0)]


def test_the_number_of_queries_does_not_grow_with_the_people(owner: Client, tenant: Tenant) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            owner.get(url(tenant))
        return len(queries)

    talk(tenant, "Hi", guest="0", name="Giulia")
    one = count()
    for number in range(1, 5):
        talk(tenant, "Hi", guest=str(number), name="Jonas")
    assert count() == one


def test_people_of_another_tenant_are_not_listed(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    talk(stranger, "Hi", guest="x", name="Giulia Ferri")
    assert names(owner, tenant) == names(owner, tenant, q="giulia") == []


def test_a_person_has_all_their_conversations(owner: Client, tenant: Tenant) -> None:
    first = talk(tenant, "Hi", name="Giulia", at=timezone.now() - timedelta(days=3))
    second = talk(tenant, "Hello")
    page = owner.get(url(tenant, first)).context
    assert ([row["id"] for row in page["talks"]], page["talk_count"]) == ([second.pk, first.pk], 2)
    assert [row["words"] for row in page["talks"]] == ["Hello", "Hi"]


def test_a_person_has_facts_and_the_history_of_consents(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", name="Giulia", city="Bari", sms_opt_in="true")
    talk(tenant, "Hi", sms_opt_in="false")
    page = owner.get(url(tenant, row)).context
    assert {fact.label: fact.value for fact in page["facts"]} == {
        "Name": "Giulia",
        "Texts": "Opted out",
        "City": "Bari",
    }
    assert [line.words for line in page["consents"]] == ["Refused", "Agreed"]


def two(tenant: Tenant) -> tuple[Conversation, Conversation]:
    return talk(tenant, "Hi", guest="1", name="Giulia Ferri"), talk(tenant, "Hi", guest="2", name="Giulia F.")


def test_the_second_person_is_chosen_by_search(owner: Client, tenant: Tenant) -> None:
    kept, merged = two(tenant)
    page = owner.get(url(tenant, kept, name="merge_person"), {"q": "giulia"})
    assert [row.id for row in page.context["rows"]] == [merged.persona_id]


def test_a_merge_shows_what_moves_and_then_moves_it(owner: Client, tenant: Tenant) -> None:
    kept, merged = two(tenant)
    address, body = url(tenant, kept, name="merge_person"), {"with": str(merged.persona_id)}
    shown = owner.get(address, body).context
    assert (shown["moving"]["conversations"], [line.label for line in shown["conflicts"]]) == (1, ["Name"])
    assert owner.post(address, {**body, "seen": shown["preview"].seen}).status_code == 302
    assert owner.get(url(tenant, kept)).context["talk_count"] == 2
    assert owner.get(url(tenant, merged)).url == url(tenant, kept)
    assert names(owner, tenant) == ["Giulia Ferri"]


def test_the_preview_of_a_merge_keeps_the_counts_of_the_side_bar(owner: Client, tenant: Tenant) -> None:
    kept, merged = two(tenant)
    address = url(tenant, kept, name="merge_person")
    shown = owner.get(address, {"with": str(merged.persona_id)}).context
    assert shown["badges"] == owner.get(address).context["badges"]


def test_a_stale_merge_is_refused_and_shown_as_it_is_now(owner: Client, tenant: Tenant) -> None:
    kept, merged = two(tenant)
    address, body = url(tenant, kept, name="merge_person"), {"with": str(merged.persona_id)}
    seen = owner.get(address, body).context["preview"].seen
    talk(tenant, "Hi", guest="2")
    answer = owner.post(address, {**body, "seen": seen})
    assert (answer.status_code, answer.context["moving"]["conversations"]) == (409, 2)


def test_a_merge_that_another_page_has_done_is_refused_without_a_fields_name(owner: Client, tenant: Tenant) -> None:
    kept, merged = two(tenant)
    address, body = url(tenant, kept, name="merge_person"), {"with": str(merged.persona_id)}
    body["seen"] = owner.get(address, body).context["preview"].seen
    assert owner.post(address, body).status_code == 302
    answer = owner.post(address, body)
    told = [str(message) for message in answer.context["messages"]]
    assert (answer.status_code, told[-1].startswith("One of the two was merged already")) == (409, True)


def test_a_viewer_is_not_offered_to_merge(tenant: Tenant, viewer: object) -> None:
    row = talk(tenant, "Hi", name="Giulia")
    assert "/merge" not in browser(viewer).get(url(tenant, row)).content.decode()


def test_a_merged_persons_identifier_still_finds_them(owner: Client, tenant: Tenant) -> None:
    kept, merged = two(tenant)
    with tenant.tx():
        Persona.objects.filter(pk=merged.persona_id).update(merged_into=kept.persona_id)
    assert names(owner, tenant, q="2") == ["Giulia Ferri"]
