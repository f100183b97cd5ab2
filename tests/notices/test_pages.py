"""The bell, its list, the settings in the account, and the API."""

from __future__ import annotations

import pytest
from django.test import Client

from notices.models import NoticeKind
from projects.models import Role
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser, owner
from tests.conversations.effects.target import Answers, Target
from tests.notices.conftest import Raise, all_notices, choose, settings_of_all, slack

__all__ = ["owner", "slack"]
FORM = {"frequency": "hourly", "timezone": "Europe/Rome", "quiet_from": "22:00", "quiet_to": "07:00"}


def url_of(tenant: Tenant, page: str = "notices") -> str:
    return f"/p/{tenant.project.slug}/{page}"


def test_the_bell_counts_what_is_unread_on_every_page(owner: Client, tenant: Tenant, raised: Raise) -> None:
    raised()
    raised()
    assert "<span data-number>2</span>" in owner.get(url_of(tenant, "promises")).content.decode()
    assert owner.get(url_of(tenant, "notices/news")).json() == {"unread": 2}


def test_opening_a_notice_reads_it_and_leads_to_its_page(owner: Client, tenant: Tenant, raised: Raise) -> None:
    subject = raised(text="SMS to Ada")
    [one] = all_notices(tenant)
    assert "SMS to Ada" in owner.get(url_of(tenant)).content.decode()
    opened = owner.post(url_of(tenant, "notices/read"), {"notice": str(one.pk)})
    assert opened.headers["Location"] == url_of(tenant, f"effects/{subject}")
    assert all_notices(tenant)[0].read_at is not None


def test_all_are_read_at_once(owner: Client, tenant: Tenant, raised: Raise) -> None:
    raised()
    raised()
    owner.post(url_of(tenant, "notices/read"))
    assert owner.get(url_of(tenant, "notices/news")).json() == {"unread": 0}


def test_a_members_notices_are_closed_to_others(tenant: Tenant, raised: Raise) -> None:
    raised(to=[tenant.owner.pk])
    [one] = all_notices(tenant)
    colleague = browser(member_of(tenant, Role.ADMIN))
    assert colleague.get(url_of(tenant, "notices/news")).json() == {"unread": 0}
    assert colleague.post(url_of(tenant, "notices/read"), {"notice": str(one.pk)}).status_code == 404


def test_the_browser_is_given_each_notice_once(owner: Client, tenant: Tenant, raised: Raise) -> None:
    choose(tenant, tenant.owner)
    raised(text="SMS to Ada")
    given = [owner.post(url_of(tenant, "notices/browser")).json()["notices"] for _ in range(2)]
    assert [[one["text"] for one in notices] for notices in given] == [["SMS to Ada"], []]


def test_settings_are_saved_for_one_organization(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    """Kinds without a checked box are off."""
    owner.post("/account/notices/", {**FORM, NoticeKind.LIMIT: ["bell", "slack"]})
    [stored] = settings_of_all(tenant)
    assert stored.ways[NoticeKind.LIMIT] == ["bell", "slack"]
    assert stored.ways[NoticeKind.UNKNOWN] == []
    assert (stored.frequency, f"{stored.quiet_from:%H:%M}", stored.timezone) == ("hourly", "22:00", "Europe/Rome")
    assert settings_of_all(stranger) == []
    assert owner.get(f"/account/notices/?organization={stranger.organization.pk}").status_code == 404


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"timezone": "Rome"}, "zone"), ({"quiet_to": ""}, "quiet"), ({"slack_url": "http://10.0.0.1/x"}, "slack")],
)
def test_a_wrong_entry_is_named_beside_its_field(
    owner: Client, tenant: Tenant, wrong: dict[str, str], field: str
) -> None:
    response = owner.post("/account/notices/", {**FORM, **wrong})
    assert (response.status_code, f'id="{field}-error"' in response.content.decode()) == (422, True)
    assert settings_of_all(tenant) == []


def test_what_was_typed_stays_beside_its_error(owner: Client) -> None:
    text = owner.post("/account/notices/", {**FORM, "quiet_to": ""}).content.decode()
    assert 'value="22:00"' in text


def test_a_test_is_sent_to_the_stored_address(owner: Client, tenant: Tenant, slack: Target) -> None:
    owner.post("/account/notices/", {**FORM, "slack_url": slack.url})
    text = owner.post("/account/notices/", {"do": "test"}, follow=True).content.decode()
    assert ("Sent. Check that it arrives" in text, slack.url in text, len(slack.log)) == (True, False, 1)
    slack.answers(Answers(status=404))
    text = owner.post("/account/notices/", {"do": "test"}, follow=True).content.decode()
    assert "refused the message (404)" in text


def test_the_stored_address_stays_until_it_is_removed(owner: Client, tenant: Tenant, slack: Target) -> None:
    owner.post("/account/notices/", {**FORM, "slack_url": slack.url})
    owner.post("/account/notices/", FORM)
    assert settings_of_all(tenant)[0].slack_url
    owner.post("/account/notices/", {**FORM, "slack_remove": "yes"})
    assert not settings_of_all(tenant)[0].slack_url


def test_the_api_lists_and_reads_a_members_notices(owner: Client, tenant: Tenant, raised: Raise) -> None:
    subject, other = raised(text="SMS to Ada"), raised()
    headers = {"X-Project": tenant.project.slug}
    newest, first = owner.get("/api/v1/notices", headers=headers).json()["results"]
    assert (first["kind"], first["text"], first["object"]) == ("outcome_unknown", "SMS to Ada", str(subject))
    assert first["url"].endswith(f"/effects/{subject}")
    body = {"notices": [newest["id"]]}
    answer = owner.post("/api/v1/notices/read", body, headers=headers, content_type="application/json")
    assert answer.json() == {"read": 1}
    left = owner.get("/api/v1/notices?unread=true", headers=headers).json()["results"]
    assert [one["object"] for one in left] == [str(subject)]
    assert str(other) == newest["object"]
