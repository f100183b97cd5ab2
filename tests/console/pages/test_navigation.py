"""The links of the side bar and of the bar of a phone, which are made once for each project, language and count."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from tests.conftest import Tenant
from tests.console.people.conftest import browser

PAGE = re.compile(r'<a href="([^"]+)"(?: data-page="[a-z_]+" title="([^"]+)")?( aria-current="page")?>')


def links(client: Client, tenant: Tenant, view: str = "todos", **headers: str) -> list[tuple[str, str, str]]:
    """The address, the title and the mark of each link."""
    text = client.get(reverse(view, args=[tenant.project.slug]), headers=headers).content.decode()
    return PAGE.findall(text.partition('<nav class="mg-nav"')[2].partition("</nav>")[0])


def test_each_project_has_its_own_links(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    for client, own in ((owner, tenant), (browser(stranger.owner), stranger)):
        found = links(client, own)
        assert found
        assert all(address.startswith(f"/p/{own.project.slug}/") for address, title, _ in found if title)


def test_each_reader_has_their_own_language(owner: Client, tenant: Tenant) -> None:
    english, german = (links(owner, tenant, **{"accept-language": code}) for code in ("en", "de"))
    assert [address for address, _, _ in english] == [address for address, _, _ in german]
    assert {title for _, title, _ in english} != {title for _, title, _ in german}


def test_the_page_that_is_open_is_marked(owner: Client, tenant: Tenant) -> None:
    for view in ("todos", "promises", "todos"):
        assert [title for _, title, mark in links(owner, tenant, view) if mark] == [view.capitalize()]


@pytest.mark.parametrize(
    ("view", "title"), [("new_tool", "Tools"), ("resources", "Bookings"), ("new_article", "Knowledge")]
)
def test_a_page_below_another_marks_that_one(owner: Client, tenant: Tenant, view: str, title: str) -> None:
    assert [one for _, one, mark in links(owner, tenant, view) if mark] == [title]
