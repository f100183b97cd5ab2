"""Canned replies: a closed list of fields, and the page on which they and the tags are changed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from conversations.inbox.tags import change_tags
from conversations.models import CannedReply, Tag
from projects.models import User
from tests.conftest import Tenant
from tests.console.pages.conftest import browser, talk

JSON = {"content_type": "application/json"}
URL = "/api/v1/canned-replies"
HELLO = {"name": "Hello", "content": "Hello {{customer.name}}, {{ me.name }} of {{agent.business}} here."}


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    """The browser of the organization's owner."""
    return browser(tenant.owner)


def page_of(tenant: Tenant) -> str:
    return reverse("canned_replies", args=[tenant.project.slug])


def stored(tenant: Tenant) -> dict[str, str]:
    with tenant.tx():
        return dict(CannedReply.objects.filter(deleted_at=None).values_list("name", "content"))


def filled(api: Client, conversation_id: Any) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = api.get(f"/api/v1/conversations/{conversation_id}/canned-replies").json()["results"]
    return results


def test_a_reply_is_filled_in_for_its_conversation(tenant: Tenant, api: Client) -> None:
    """The text in the list keeps its fields."""
    made = api.post(URL, HELLO, **JSON)
    assert (made.status_code, api.get(URL).json()["results"]) == (201, [made.json()])
    with tenant.tx():
        tenant.owner.first_name, business = "Chiara", tenant.project.agent_version.config.business_name
        tenant.owner.save()
    [reply] = filled(api, talk(tenant, "Hi", name="Ada").pk)
    assert reply["content"] == f"Hello Ada, Chiara of {business} here."
    assert reply["missing"] == []
    assert made.json()["content"] == HELLO["content"]


def test_a_field_without_a_value_stays_and_is_named(tenant: Tenant, api: Client) -> None:
    api.post(URL, {"name": "Call", "content": "We call {{customer.phone}}."}, **JSON)
    [reply] = filled(api, talk(tenant, "Hi", name="Ada").pk)
    assert (reply["content"], reply["missing"]) == ("We call {{customer.phone}}.", ["customer.phone"])


def test_a_value_that_looks_like_a_field_is_not_filled_in_again(tenant: Tenant, api: Client) -> None:
    api.post(URL, {"name": "Hello", "content": "Hello {{customer.name}}"}, **JSON)
    [reply] = filled(api, talk(tenant, "Hi", name="{{agent.business}}").pk)
    assert (reply["content"], reply["missing"]) == ("Hello {{agent.business}}", [])


@pytest.mark.parametrize("name", ["customer.password", "settings.SECRET_KEY", "", "customer.name|safe"])
def test_an_unknown_field_is_refused_by_name(api: Client, name: str) -> None:
    refused = api.post(URL, {"name": "x", "content": f"{{{{{name}}}}}"}, **JSON).json()["error"]
    assert (refused["code"], refused["field"]) == ("unknown_canned_field", "content")
    assert f"{{{{{name}}}}}" in refused["message"]


def test_words_of_a_template_language_are_text(tenant: Tenant, api: Client) -> None:
    content = "{% load static %} {{customer.name}} {# secret #} ${7*7}"
    api.post(URL, {"name": "x", "content": content}, **JSON)
    [reply] = filled(api, talk(tenant, "Hi", name="Ada").pk)
    assert reply["content"] == content.replace("{{customer.name}}", "Ada")


def test_a_name_is_used_once_and_free_again_after_a_deletion(api: Client) -> None:
    made = api.post(URL, HELLO, **JSON).json()
    again = api.post(URL, {**HELLO, "name": " hello "}, **JSON)
    assert (again.status_code, again.json()["error"]["code"]) == (409, "canned_reply_exists")
    assert api.patch(f"{URL}/{made['id']}", {"content": "Hi"}, **JSON).json()["content"] == "Hi"
    assert api.delete(f"{URL}/{made['id']}").status_code == 204
    assert api.get(URL).json()["results"] == []
    assert api.patch(f"{URL}/{made['id']}", {"content": "Hi"}, **JSON).status_code == 404
    assert api.post(URL, HELLO, **JSON).status_code == 201


def test_the_page_makes_and_changes_a_reply(tenant: Tenant, operator: User) -> None:
    client = browser(operator)
    client.post(page_of(tenant), {"do": "save-reply", "id": "new", "name": "Hours", "content": "Until 10.\r\n"})
    assert stored(tenant) == {"Hours": "Until 10."}
    [row] = client.get(page_of(tenant)).context["replies"]
    client.post(page_of(tenant), {"do": "save-reply", "id": row.id, "name": "Hours", "content": "Until 11."})
    assert stored(tenant) == {"Hours": "Until 11."}


@pytest.mark.parametrize(
    ("posted", "field"),
    [
        ({"name": "", "content": "x"}, "name"),
        ({"name": "x", "content": ""}, "content"),
        ({"name": "x", "content": "{{nobody}}"}, "content"),
        ({"name": "x", "content": "y" * 4001}, "content"),
        ({"name": "Hours", "content": "x"}, "name"),
    ],
)
def test_the_page_shows_an_error_at_its_field_and_keeps_what_was_typed(
    tenant: Tenant, owner: Client, posted: dict[str, str], field: str
) -> None:
    owner.post(page_of(tenant), {"do": "save-reply", "id": "new", "name": "Hours", "content": "Until 10."})
    page = owner.post(page_of(tenant), {"do": "save-reply", "id": "new", **posted})
    row = page.context["new_reply"]
    assert (page.status_code, list(row.errors), dict(row.values)) == (422, [field], posted)
    assert list(stored(tenant)) == ["Hours"]


def test_a_deleted_reply_is_restored_from_the_notice(tenant: Tenant, owner: Client) -> None:
    owner.post(page_of(tenant), {"do": "save-reply", "id": "new", **HELLO})
    [row] = owner.get(page_of(tenant)).context["replies"]
    page = owner.post(page_of(tenant), {"do": "delete-reply", "id": row.id}, follow=True)
    assert stored(tenant) == {}
    token = re.search(r'name="token" value="([^"]+)"', page.content.decode())
    assert token is not None
    owner.post(reverse("undo", args=[tenant.project.slug]), {"token": token[1]})
    assert stored(tenant) == {HELLO["name"]: HELLO["content"]}


def test_tags_are_renamed_recolored_and_deleted_on_the_page(tenant: Tenant, owner: Client) -> None:
    row = talk(tenant, "Hi")
    with tenant.tx():
        tag = Tag.objects.create(project=tenant.project, name="VIP")
        change_tags(row.pk, add=[tag], remove=[], by=tenant.owner)
    assert [one.uses for one in owner.get(page_of(tenant)).context["tags"]] == [1]
    owner.post(page_of(tenant), {"do": "save-tag", "id": str(tag.pk), "name": "Regular", "color": "ok"})
    with tenant.tx():
        assert list(row.tag_rows.values_list("tag__name", "tag__color")) == [("Regular", "ok")]
    owner.post(page_of(tenant), {"do": "delete-tag", "id": str(tag.pk)})
    with tenant.tx():
        assert not row.tag_rows.exists()


def test_a_tag_of_the_same_name_is_refused_on_the_page(tenant: Tenant, owner: Client) -> None:
    owner.post(page_of(tenant), {"do": "save-tag", "id": "new", "name": "VIP", "color": "ok"})
    page = owner.post(page_of(tenant), {"do": "save-tag", "id": "new", "name": "vip", "color": "ok"})
    assert (page.status_code, list(page.context["new_tag"].errors)) == (422, ["name"])
