"""The pages of the knowledge base for staff, and the public page of an article."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from console.knowledge import listing
from projects.models import Article
from tests.conftest import Tenant
from tests.projects.knowledge.conftest import Write, plant
from tests.tenancy.conftest import browser
from tests.tenancy.test_admin_reading import Inline

PAYLOAD = "<script>alert(1)</script><img src=x onerror=alert(1)>"
FORM = {"title": "Dogs", "excerpt": "Yes.", "body": "Dogs are welcome.", "is_published": "yes"}


@pytest.fixture
def owner(empty: Tenant) -> Client:
    return browser(empty.owner)


@pytest.fixture
def here(empty: Tenant) -> str:
    return f"/p/{empty.project.slug}/knowledge"


def text_of(response: Any) -> str:
    return str(response.content.decode())


def test_an_article_is_written_on_its_page(owner: Client, here: str, empty: Tenant) -> None:
    assert "No articles yet" in text_of(owner.get(here))
    response = owner.post(f"{here}/new", FORM)
    assert response.headers["Location"] == f"{here}/a/dogs"
    assert "Dogs are welcome." in text_of(owner.get(f"{here}/a/dogs"))
    assert "Dogs" in text_of(owner.get(here))


def test_articles_with_the_same_title_are_all_listed(
    owner: Client, here: str, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "PAGE", 1)
    slugs = [write("Dogs").slug for _ in range(3)]
    address, seen = here, []
    for _ in slugs:
        text = text_of(owner.get(address))
        seen += [slug for slug in slugs if f'{here}/a/{slug}"' in text]
        after = re.search(r"[?&;]after=([0-9a-f-]+)", text)
        address = f"{here}?after={after[1]}" if after else here
    assert sorted(seen) == sorted(slugs)


def test_a_preview_saves_nothing(owner: Client, here: str, empty: Tenant) -> None:
    text = text_of(owner.post(f"{here}/new", {**FORM, "body": "**Welcome**", "do": "preview"}))
    assert "<strong>Welcome</strong>" in text
    with empty.tx():
        assert not Article.objects.exists()


def test_errors_appear_at_their_field_and_keep_the_input(owner: Client, here: str) -> None:
    response = owner.post(f"{here}/new", {**FORM, "title": ""})
    assert response.status_code == 422
    assert "Enter a title" in text_of(response)
    assert "Dogs are welcome." in text_of(response)


def test_a_conflicting_edit_shows_the_difference(owner: Client, here: str, write: Write) -> None:
    write("Dogs", "Old words.")
    page = f"{here}/a/dogs"
    owner.post(page, {**FORM, "body": "Theirs stands.", "started_from": "1"})
    response = owner.post(page, {**FORM, "body": "Mine stands.", "started_from": "1"})
    assert response.status_code == 409
    assert "<del>Theirs</del><ins>Mine</ins> stands." in text_of(response)
    owner.post(page, {**FORM, "body": "Mine stands.", "started_from": "2"})
    assert "Mine stands." in text_of(owner.get(page))


@pytest.mark.requirement("W07")
def test_an_article_can_be_unpublished_and_deleted(owner: Client, here: str, write: Write) -> None:
    """Both take effect immediately."""
    write("Dogs", "Dogs are welcome.", excerpt="Yes.")
    public = here.replace("/p/", "/k/").replace("/knowledge", "/dogs")
    assert Client().get(public).status_code == 200
    unpublished = {name: value for name, value in FORM.items() if name != "is_published"}
    owner.post(f"{here}/a/dogs", {**unpublished, "started_from": "1"})
    assert Client().get(public).status_code == 404
    owner.post(f"{here}/a/dogs", {"do": "delete"})
    assert owner.get(f"{here}/a/dogs").status_code == 404


def test_a_question_shows_what_the_agent_would_find(owner: Client, here: str, write: Write) -> None:
    """Matching drafts are listed separately."""
    write("Dogs", "They are welcome on the terrace.")
    write("More about dogs", is_published=False)
    text = text_of(owner.get(here, {"q": "dogs on the terrace"}))
    assert '<mark class="mg-mark" data-s="act">terrace</mark>' in text
    assert text.index("Matching drafts") < text.index("More about dogs")
    assert "No results." in text_of(owner.get(here, {"q": "helicopters"}))


def test_the_list_is_paginated(owner: Client, here: str, empty: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.knowledge.listing.PAGE", 2)
    with empty.tx():
        rows = [Article(project=empty.project, slug=f"s{n}", title=f"Title {n}", body="x") for n in range(3)]
        Article.objects.bulk_create(rows)
    first = text_of(owner.get(here))
    assert "Title 1" in first
    assert "Title 2" not in first
    assert "Title 2" in text_of(owner.get(here, {"after": str(rows[1].pk)}))
    assert "Title 0" in text_of(owner.get(here, {"after": "nonsense"}))


def test_a_viewer_can_read_but_not_edit(empty: Tenant, viewer: Any, here: str, write: Write) -> None:
    write("Dogs", "Dogs are welcome.")
    text = text_of(browser(viewer).get(f"{here}/a/dogs"))
    assert "Dogs are welcome." in text
    assert 'id="form"' not in text


def test_a_public_page_has_no_script_and_is_cacheable(write: Write, here: str) -> None:
    write("Dogs", "# More\nDogs are **welcome**.")
    url = here.replace("/p/", "/k/").replace("/knowledge", "/dogs")
    response = Client().get(url)
    policy = response.headers["Content-Security-Policy"]
    assert "script-src 'none'" in policy
    assert "<script" not in text_of(response)
    assert response.headers["Cache-Control"] == "public, max-age=60"
    assert "Cookie" not in response.headers.get("Vary", "")
    assert not response.cookies
    assert Client().get(url, headers={"If-None-Match": response.headers["ETag"]}).status_code == 304


def test_html_is_escaped_on_every_page(owner: Client, here: str, write: Write) -> None:
    """In the title, excerpt and body."""
    article = write(PAYLOAD, f"{PAYLOAD} [x](javascript:alert(1))", excerpt=PAYLOAD)
    public = here.replace("/p/", "/k/").replace("/knowledge", f"/{article.slug}")
    pages = [
        owner.get(here),
        owner.get(here, {"q": "script alert"}),
        owner.get(f"{here}/a/{article.slug}"),
        owner.post(
            f"{here}/a/{article.slug}", {"title": PAYLOAD, "excerpt": PAYLOAD, "body": PAYLOAD, "do": "preview"}
        ),
        owner.post(f"{here}/a/{article.slug}", {"title": PAYLOAD, "body": "x", "started_from": "9"}),
        Client().get(public),
    ]
    for page in pages:
        assert page.status_code in (200, 409)
        assert "&lt;script&gt;alert(1)" in text_of(page)
        parser = Inline()
        parser.feed(text_of(page))
        assert parser.found == []
        assert "<img src=x" not in text_of(page)


@pytest.mark.requirement("W07")
@pytest.mark.parametrize("path", ["a-draft", "theirs", "no-such-article"])
def test_unpublished_articles_return_404(path: str, here: str, write: Write, stranger: Tenant) -> None:
    """A draft, another tenant's article and a missing one look the same."""
    write("A draft", is_published=False)
    with plant(stranger).tx():
        Article.objects.filter(slug="birthdays").update(slug="theirs")
    assert Client().get(here.replace("/p/", "/k/").replace("/knowledge", f"/{path}")).status_code == 404
    assert Client().get(f"/k/{stranger.project.slug}/theirs").status_code == 200
