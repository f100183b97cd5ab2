"""Admin pages show no other tenant's data and don't let anyone change facts. These tests write nothing."""

from __future__ import annotations

import uuid
from functools import cache
from html.parser import HTMLParser
from operator import attrgetter
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.messages import get_messages
from django.db import models
from django.test import Client
from django.urls import reverse

from projects.models import AgentVersion, ApiKey, Attribute, Organization, User
from tests.tenancy.admin_pages import (
    ADDABLE,
    DELETABLE,
    OF_OPERATOR,
    OWNED,
    PAGES,
    PLATFORM_ONLY,
    address,
    assert_nothing_of,
    by_model,
)
from tests.tenancy.conftest import OURS, THEIRS, Filled, World, browser
from tests.tenancy.rows import tenant_models


class Reader:
    """A signed-in browser with a cache of responses."""

    def __init__(self, user: User) -> None:
        self.get = cache(browser(user).get)


@pytest.fixture
def ours(world: World) -> Filled:
    return world.ours


@pytest.fixture
def theirs(world: World) -> Filled:
    return world.theirs


@pytest.fixture(scope="module")
def owner(world: World) -> Reader:
    return Reader(world.ours.tenant.owner)


@pytest.fixture(scope="module")
def platform(world: World) -> Reader:
    return Reader(world.platform)


@pytest.fixture
def intruder(world: World) -> Client:
    """Another browser of our owner, for requests that change its session."""
    return browser(world.ours.tenant.owner)


def test_every_tenant_model_is_registered() -> None:
    assert {*tenant_models(), Organization} == set(OWNED)


@by_model
def test_a_list_shows_only_our_rows(model: Any, owner: Reader, ours: Filled, theirs: Filled) -> None:
    text = owner.get(address(model, "changelist")).content.decode()
    assert str(ours.rows[model].pk) in text
    assert_nothing_of(theirs, text)


@by_model
def test_the_pages_of_a_row_show_only_our_rows(model: Any, owner: Reader, ours: Filled, theirs: Filled) -> None:
    for page in ("change", "delete"):
        response = owner.get(address(model, page, ours.rows[model].pk))
        assert response.status_code == (403 if page == "delete" and model not in DELETABLE else 200)
        assert_nothing_of(theirs, response.content.decode())


def test_the_history_of_a_row_shows_only_our_rows(owner: Reader, ours: Filled, theirs: Filled) -> None:
    """One model stands for all: the page reads the log of the admin alone."""
    response = owner.get(address(Attribute, "history", ours.rows[Attribute].pk))
    assert response.status_code == 200
    assert_nothing_of(theirs, response.content.decode())


@by_model
def test_another_tenants_row_looks_nonexistent(model: Any, intruder: Client, theirs: Filled) -> None:
    def answer(page: str, pk: object) -> tuple[int, str, list[str]]:
        response = intruder.get(address(model, page, pk))
        intruder.cookies.pop("messages", None)
        said = [str(message).replace(str(pk), "") for message in get_messages(response.wsgi_request)]
        return response.status_code, response.headers.get("Location", ""), said

    for page in PAGES:
        assert answer(page, theirs.rows[model].pk) == answer(page, uuid.uuid4())


@by_model
def test_forms_offer_only_our_rows(model: Any, owner: Reader, ours: Filled, theirs: Filled) -> None:
    response = owner.get(address(model, "add"))
    assert response.status_code == (200 if model in ADDABLE else 403)
    assert_nothing_of(theirs, response.content.decode())


@by_model
def test_searches_and_filters_find_only_our_rows(model: Any, owner: Reader, ours: Filled, theirs: Filled) -> None:
    for query in (f"id__in={theirs.rows[model].pk}", f"q={THEIRS}"):
        response = owner.get(f"{address(model, 'changelist')}?{query}")
        assert response.status_code == 200
        assert list(response.context_data["cl"].result_list) == [], query


@by_model
@pytest.mark.parametrize("query", ["organization__id__exact=1", "id__startswith=a"])
def test_a_list_cannot_be_filtered_by_other_columns(model: Any, query: str, owner: Reader) -> None:
    """Such as `?organization__id__exact=…`, or a guess at the letters of an id."""
    assert owner.get(f"{address(model, 'changelist')}?{query}").status_code == 400


@pytest.mark.parametrize(
    "query",
    [
        "project__api_keys__digest__startswith=a",
        "digest__startswith=a",
        "id__regex=(",
        "id__exact=%00",
        "created_at__year=99999999999",
    ],
)
def test_a_list_cannot_be_filtered_by_guesses(query: str, owner: Reader) -> None:
    """Including filters that Django always allows."""
    assert owner.get(f"{address(ApiKey, 'changelist')}?{query}").status_code == 400


@by_model
def test_lists_offer_no_bulk_deletion(model: Any, owner: Reader, ours: Filled) -> None:
    assert "delete_selected" not in owner.get(address(model, "changelist")).content.decode()


@by_model
def test_a_forged_post_cannot_change_another_tenants_row(model: Any, intruder: Client, theirs: Filled) -> None:
    forged = {"name": "x", "role": "viewer", "text": "x"}
    response = intruder.post(address(model, "change", theirs.rows[model].pk), forged)
    assert response.status_code in (302, 403)
    with theirs.tenant.tx():
        kept = model._base_manager.get(pk=theirs.rows[model].pk)
    assert model_to_text(kept) == model_to_text(theirs.rows[model])


def model_to_text(row: models.Model) -> dict[str, str]:
    dates = ("created_at", "updated_at")
    return {field.name: str(getattr(row, field.attname)) for field in row._meta.fields if field.name not in dates}


@pytest.mark.parametrize("model", PLATFORM_ONLY, ids=lambda model: model._meta.label)
def test_an_owner_cannot_open_shared_tables(model: Any, owner: Reader, ours: Filled) -> None:
    for page in ("changelist", "add"):
        assert owner.get(address(model, page)).status_code == 403
    assert owner.get(address(model, "change", ours.tenant.owner.pk)).status_code in (302, 403)


def test_autocomplete_offers_only_our_rows(intruder: Client, ours: Filled, theirs: Filled) -> None:
    found = []
    for model in tenant_models():
        for field in filter(attrgetter("remote_field"), model._meta.fields):
            query = {"app_label": model._meta.app_label, "model_name": model._meta.model_name, "field_name": field.name}
            response = intruder.get(reverse("admin:autocomplete"), query)
            if response.status_code == 200:
                found.append(field)
                assert_nothing_of(theirs, response.content.decode())
    assert found


def test_view_on_site_is_disabled(owner: Reader, theirs: Filled) -> None:
    for content_type in range(1, 40):
        assert owner.get(f"/admin/r/{content_type}/{theirs.tenant.project.pk}/").status_code == 404


def test_a_superuser_sees_every_tenant(platform: Reader, ours: Filled, theirs: Filled) -> None:
    text = platform.get(address(AgentVersion, "changelist")).content.decode()
    assert OURS in text
    assert THEIRS in text


@by_model
def test_a_superuser_can_open_every_page(model: Any, platform: Reader, theirs: Filled) -> None:
    for page in ("change", "delete"):
        expected = 403 if page == "delete" and model not in (*DELETABLE, *OF_OPERATOR) else 200
        assert platform.get(address(model, page, theirs.rows[model].pk)).status_code == expected


@pytest.mark.parametrize("model", [model for model in OWNED if not admin.site._registry[model].writable])
def test_facts_are_read_only(model: Any, owner: Reader, intruder: Client, ours: Filled) -> None:
    row = ours.rows[model]
    text = owner.get(address(model, "change", row.pk)).content.decode()
    assert 'name="_save"' not in text
    for page in ("change", "delete"):
        assert intruder.post(address(model, page, row.pk), {"post": "yes"}).status_code == 403
    assert intruder.post(address(model, "add"), {}).status_code == 403


def test_the_list_of_facts_is_complete() -> None:
    writable = {model._meta.object_name for model in OWNED if admin.site._registry[model].writable}
    assert writable == {
        "Organization",
        "Member",
        "Project",
        "Attribute",
        "ApiKey",
        "CustomTool",
        "Resource",
        "OperatorLimit",
    }


@by_model
def test_a_superuser_cannot_add_rows_to_a_tenant(model: Any, platform: Reader) -> None:
    assert platform.get(address(model, "add")).status_code == (200 if model in (Organization, *OF_OPERATOR) else 403)


class Inline(HTMLParser):
    """Collects inline scripts and styles, which the policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        is_data = names.get("type") == "application/json"
        if tag == "style" or (tag == "script" and "src" not in names and not is_data):
            self.found.append(tag)
        self.found += [name for name in names if name == "style" or name.startswith("on")]
        self.found += [value for value in names.values() if value and value.startswith("javascript:")]


@by_model
def test_pages_comply_with_the_content_security_policy(model: Any, owner: Reader, ours: Filled) -> None:
    pages = ["changelist", "add"]
    urls = [reverse("admin:index"), *(address(model, page) for page in pages)]
    for url in (*urls, address(model, "change", ours.rows[model].pk)):
        response = owner.get(url)
        parser = Inline()
        parser.feed(response.content.decode())
        assert parser.found == [], url
        policy = response.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
