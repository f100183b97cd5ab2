"""A person's browsers under their account: turned on, renewed, tested, removed, and forgotten with the session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.signals import password_changed
from django.http import HttpRequest
from django.test import Client

from notices.models import NoticeKind, PushSubscription
from projects.models import Member, Role
from projects.models.user import User
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser as signed_in
from tests.console.pages.conftest import owner
from tests.conversations.effects.target import Answers, Target, target_server
from tests.notices.conftest import settings_of_all
from tests.notices.push_service import PlayedBrowser

__all__ = ["owner"]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
EDGE = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0 Safari/537.36 Edg/141.0"


@pytest.fixture
def service(settings: Any) -> Iterator[Target]:
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    with target_server() as server:
        server.answers(Answers(status=201, body=""))
        yield server


@pytest.fixture
def played(service: Target) -> PlayedBrowser:
    return PlayedBrowser(f"{service.url}/one")


def post(client: Client, played: PlayedBrowser, **more: Any) -> Any:
    body = {**played.posted, **more}
    answer = client.post("/account/browsers", body, content_type="application/json", headers={"User-Agent": FIREFOX})
    return answer.json()


def stored(tenant: Tenant) -> list[PushSubscription]:
    with tenant.tx():
        return list(PushSubscription.objects.order_by("created_at"))


def account(client: Client) -> str:
    return client.get("/account/notices/").content.decode()


def test_a_browser_is_turned_on_and_listed_by_its_name(owner: Client, tenant: Tenant, played: PlayedBrowser) -> None:
    known = post(owner, played)["browser"]
    assert [row.browser for row in stored(tenant)] == [known]
    text = account(owner)
    assert ("Firefox (Linux)" in text, "data-push-here" in text, played.endpoint in text) == (True, True, False)


def test_the_first_browser_is_chosen_for_the_kinds_that_are_e_mailed(
    owner: Client, tenant: Tenant, played: PlayedBrowser
) -> None:
    post(owner, played)
    [chosen] = settings_of_all(tenant)
    assert chosen.ways[NoticeKind.WAITS] == ["bell", "browser", "email"]
    assert NoticeKind.UNKNOWN not in chosen.ways


def test_a_choice_of_kinds_stays(owner: Client, tenant: Tenant, played: PlayedBrowser) -> None:
    owner.post("/account/notices/", {"frequency": "at_once", "timezone": "UTC", NoticeKind.LIMIT: ["browser"]})
    post(owner, played)
    [chosen] = settings_of_all(tenant)
    assert [kind for kind, ways in chosen.ways.items() if "browser" in ways] == [NoticeKind.LIMIT]


def test_a_person_of_two_organizations_is_reached_from_both(
    owner: Client, tenant: Tenant, stranger: Tenant, played: PlayedBrowser
) -> None:
    with stranger.tx():
        Member.objects.create(user=tenant.owner, role=Role.VIEWER)
    known = post(owner, played)["browser"]
    assert [len(stored(one)) for one in (tenant, stranger)] == [1, 1]
    owner.post(f"/account/browsers/{known}/remove")
    assert [len(stored(one)) for one in (tenant, stranger)] == [0, 0]


def test_a_browser_whose_address_changed_is_the_same_one(owner: Client, tenant: Tenant, service: Target) -> None:
    old, new = PlayedBrowser(f"{service.url}/old"), PlayedBrowser(f"{service.url}/new")
    before = post(owner, old)["browser"]
    known = post(owner, new, before=before)["browser"]
    assert ([row.browser for row in stored(tenant)], known == before) == ([known], False)


def test_a_renewed_browser_reaches_a_new_organization(
    owner: Client, tenant: Tenant, stranger: Tenant, played: PlayedBrowser
) -> None:
    known = post(owner, played)["browser"]
    with stranger.tx():
        Member.objects.create(user=tenant.owner, role=Role.VIEWER)
    post(owner, played, before=known)
    assert [row.browser for row in stored(stranger)] == [known]


def test_a_browser_removed_elsewhere_is_not_renewed(owner: Client, tenant: Tenant, played: PlayedBrowser) -> None:
    known = post(owner, played)["browser"]
    signed_in(tenant.owner).post(f"/account/browsers/{known}/remove")
    assert (post(owner, played, before=known), stored(tenant)) == ({"browser": ""}, [])
    assert "data-push-here" not in account(owner)


def test_the_previous_persons_browser_is_not_taken_over(owner: Client, tenant: Tenant, played: PlayedBrowser) -> None:
    known = post(owner, played)["browser"]
    colleague = signed_in(member_of(tenant, Role.OPERATOR))
    assert post(colleague, played, before=known) == {"browser": ""}
    assert len(stored(tenant)) == 1


def test_signing_out_forgets_the_browser(owner: Client, tenant: Tenant, service: Target) -> None:
    """Others of the person stay."""
    phone, desk = PlayedBrowser(f"{service.url}/phone"), PlayedBrowser(f"{service.url}/desk")
    known = post(signed_in(tenant.owner), phone)["browser"]
    post(owner, desk)
    owner.post("/account/logout/")
    assert [row.browser for row in stored(tenant)] == [known]


def test_a_new_password_forgets_all_other_browsers(owner: Client, tenant: Tenant, service: Target) -> None:
    """It signs them out."""
    phone, desk = PlayedBrowser(f"{service.url}/phone"), PlayedBrowser(f"{service.url}/desk")
    post(signed_in(tenant.owner), phone)
    known = post(owner, desk)["browser"]
    request = HttpRequest()
    request.session = owner.session
    password_changed.send(User, request=request, user=tenant.owner)
    assert [row.browser for row in stored(tenant)] == [known]


def test_a_test_is_sent_and_its_outcome_said(
    owner: Client, tenant: Tenant, service: Target, played: PlayedBrowser
) -> None:
    known = post(owner, played)["browser"]
    text = owner.post(f"/account/browsers/{known}/test", follow=True).content.decode()
    assert ("Sent. Check that it appears" in text, len(played.shown(service))) == (True, 1)
    service.answers(Answers(status=503))
    text = owner.post(f"/account/browsers/{known}/test", follow=True).content.decode()
    assert (text.count("(503)"), len(stored(tenant))) == (2, 1)


def test_a_test_to_a_browser_that_is_gone_removes_it(
    owner: Client, tenant: Tenant, service: Target, played: PlayedBrowser
) -> None:
    known = post(owner, played)["browser"]
    service.answers(Answers(status=410))
    owner.post(f"/account/browsers/{known}/test")
    assert stored(tenant) == []


@pytest.mark.parametrize("action", ["test", "remove"])
def test_another_persons_browser_does_not_exist(
    owner: Client, tenant: Tenant, service: Target, played: PlayedBrowser, action: str
) -> None:
    known = post(owner, played)["browser"]
    colleague = signed_in(member_of(tenant, Role.ADMIN))
    assert colleague.post(f"/account/browsers/{known}/{action}").status_code == 404
    assert (len(stored(tenant)), service.log) == (1, [])


@pytest.mark.parametrize(
    "body", ["", "[]", "null", '{"endpoint": 5}', "{}", '{"endpoint": "https://10.0.0.1/x"}', "\x00"]
)
def test_a_body_that_no_browser_sends_is_refused_in_words(owner: Client, tenant: Tenant, body: str) -> None:
    answer = owner.post("/account/browsers", body, content_type="application/json")
    assert (answer.status_code, bool(json.loads(answer.content)["error"]), stored(tenant)) == (422, True, [])


def test_browsers_are_named_by_what_they_are(owner: Client, tenant: Tenant, played: PlayedBrowser) -> None:
    headers = {"User-Agent": EDGE}
    owner.post("/account/browsers", played.posted, content_type="application/json", headers=headers)
    assert [row.name for row in stored(tenant)] == ["Edge (Windows)"]


def test_the_service_worker_is_served_above_the_consoles_pages() -> None:
    answer = Client().get("/p/service-worker.js")
    assert (answer.headers["Content-Type"], answer.headers["Cache-Control"]) == (
        "text/javascript; charset=utf-8",
        "no-cache",
    )


def test_the_console_can_be_put_on_a_home_screen() -> None:
    """Every icon that the manifest and a page name is served, and of the size that it claims."""
    answer = Client().get("/manifest.webmanifest")
    content = answer.json()
    assert answer.headers["Content-Type"] == "application/manifest+json"
    assert (content["start_url"], content["display"]) == ("/", "standalone")
    sizes = {icon["purpose"]: icon["sizes"] for icon in content["icons"]}
    assert sizes == {"any": "512x512", "maskable": "512x512"}
    for icon in content["icons"]:
        image = b"".join(Client().get(icon["src"]).streaming_content)  # type: ignore[attr-defined]  # a file
        width, height = (int.from_bytes(image[at : at + 4]) for at in (16, 20))
        assert f"{width}x{height}" == icon["sizes"]


@pytest.mark.parametrize("path", ["/favicon.ico", "/apple-touch-icon.png", "/apple-touch-icon-precomposed.png"])
def test_an_icon_is_at_the_address_that_browsers_try(path: str) -> None:
    address = Client().get(path).headers["Location"]
    image = b"".join(Client().get(address).streaming_content)  # type: ignore[attr-defined]  # a file
    assert image.startswith(b"\x89PNG")


def test_the_consoles_pages_link_the_manifest_and_customers_pages_do_not(owner: Client) -> None:
    mark = b'rel="manifest"'
    assert mark in owner.get("/account/notices/").content
    assert mark in Client().get("/account/login/").content
    assert mark not in Client().get("/c/none").content
