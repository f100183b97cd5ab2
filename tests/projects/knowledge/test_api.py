"""The API of articles."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from projects.models import Article
from tests.concurrent import meanwhile
from tests.conftest import Tenant

BASE = "/api/v1/knowledge"
DOG = {"title": "Can I bring my dog?", "excerpt": "Yes.", "body": "Dogs are welcome on the terrace."}


def send(api: Client, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    return getattr(api, method)(f"{BASE}{path}", body, content_type="application/json")


@pytest.fixture
def dog(empty: Tenant, api: Client) -> dict[str, Any]:
    response = send(api, "post", "", {**DOG, "published": True})
    assert response.status_code == 201
    return dict(response.json())


def test_an_article_can_be_created_read_changed_and_deleted(api: Client, dog: dict[str, Any]) -> None:
    assert (dog["slug"], dog["version"], dog["published"]) == ("can-i-bring-my-dog", 1, True)
    assert dog["url"].endswith("/can-i-bring-my-dog")
    path = f"/{dog['slug']}"
    changed = send(api, "put", path, {**DOG, "title": "Dogs", "published": False, "version": 1}).json()
    assert (changed["slug"], changed["title"], changed["version"]) == (dog["slug"], "Dogs", 2)
    assert changed["url"] is None
    assert api.get(f"{BASE}{path}").json() == changed
    assert send(api, "delete", path).status_code == 204
    assert api.get(f"{BASE}{path}").status_code == 404


def test_saving_an_article_deleted_meanwhile_returns_404(api: Client, dog: dict[str, Any], empty: Tenant) -> None:

    def delete() -> None:
        with empty.tx():
            Article.objects.all().delete()

    with meanwhile('FROM "projects_article"', delete):
        response = send(api, "put", f"/{dog['slug']}", {**DOG, "body": "New."})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


def test_the_list_is_filtered_and_a_question_returns_its_passage(api: Client, dog: dict[str, Any]) -> None:
    send(api, "post", "", {"title": "A draft about dogs", "body": "Dogs."})

    def slugs(query: str) -> list[str]:
        return [row["slug"] for row in api.get(f"{BASE}{query}").json()["results"]]

    assert slugs("") == ["a-draft-about-dogs", dog["slug"]]
    assert slugs("?published=true") == slugs("?q=dogs&published=true") == [dog["slug"]]
    assert slugs("?published=false") == slugs("?q=dogs&published=false") == ["a-draft-about-dogs"]
    assert dog["slug"] in slugs("?q=dogs%00")
    [found] = api.get(f"{BASE}?q=are dogs welcome&published=true").json()["results"]
    assert found["passage"] == DOG["body"]
    assert "body" not in api.get(BASE).json()["results"][0]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("post", "", {"body": "x"}, 400, "title"),
        ("post", "", {"title": " ", "body": "x"}, 400, "title"),
        ("post", "", {"title": "x" * 201, "body": "x"}, 400, "title"),
        ("post", "", {"title": "x", "body": "a\u0007b"}, 422, "body"),
        ("post", "", {"title": "x", "body": "x", "slug": "mine"}, 400, "slug"),
        ("put", "/can-i-bring-my-dog", {**DOG, "body": "New.", "version": 9}, 409, None),
        ("put", "/no-such-article", DOG, 404, None),
        ("get", "?published=perhaps", None, 400, "published"),
        ("get", f"?q={'x' * 1001}", None, 400, "q"),
    ],
)
def test_invalid_requests_return_the_standard_error(
    api: Client, dog: dict[str, Any], empty: Tenant, method: str, path: str, body: Any, status: int, field: str | None
) -> None:
    response = send(api, method, path, body)
    assert response.status_code == status
    assert response.json()["error"]["field"] == field
    with empty.tx():
        assert Article.objects.get().body == DOG["body"]
