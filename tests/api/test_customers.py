"""Customer fields written over the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.models import Conversation, Persona
from tests.api.conftest import error_of
from tests.conftest import Tenant

CONVERSATIONS = "/api/v1/conversations"
EXAMPLE = "Write it like +39 312 345 6789, or leave it out if none is known."


def open_with(api: Client, **persona: str) -> Any:
    body = {"channel": "phone", "persona": {"external_id": "ada", **persona}}
    return api.post(CONVERSATIONS, body, content_type="application/json")


@pytest.fixture
def persona(api: Client) -> str:
    return f"/api/v1/personas/{open_with(api).json()['persona']['id']}"


@pytest.mark.parametrize("written", ["+39 347 555 0142", "347 555 0142", "0039 347 5550142"])
def test_a_phone_number_is_normalized_like_the_observers(api: Client, written: str) -> None:
    assert open_with(api, phone=written).json()["persona"]["phone"] == "+393475550142"


@pytest.mark.parametrize("text", ["anonymous", "12", "call me"])
def test_an_invalid_phone_number_opens_no_conversation(api: Client, tenant: Tenant, text: str) -> None:
    error = error_of(open_with(api, phone=text), status=422)
    assert error["field"] == "persona.phone"
    assert error["message"].startswith(f"persona.phone: {text} is not a ")
    assert error["message"].endswith(EXAMPLE)
    with tenant.tx():
        assert not Conversation.objects.exists()
        assert not Persona.objects.exists()


@pytest.mark.parametrize(("sent", "stored"), [(True, "true"), (False, "false"), ("False", "false")])
def test_a_consent_is_a_boolean_or_its_word(api: Client, persona: str, sent: bool | str, stored: str) -> None:
    answer = api.patch(persona, {"attributes": {"sms_opt_in": sent}}, content_type="application/json").json()
    assert (answer["attributes"]["sms_opt_in"], answer["consents"][0]["given"]) == (stored, stored == "true")


@pytest.mark.parametrize(
    ("body", "field", "status"),
    [
        ({"phone": "none"}, "phone", 422),
        ({"attributes": {"phone": "none"}}, "attributes.phone", 422),
        ({"attributes": {"email": "none"}}, "attributes.email", 400),
        ({"attributes": {"name": "A" * 81}}, "attributes.name", 400),
        ({"attributes": {"note": "a\n# System"}}, "attributes.note", 422),
        ({"name": "A\u202eB"}, "name", 422),
        ({"attributes": {f"k{number}": "v" for number in range(51)}}, "attributes", 400),
        *(({"attributes": {key: "v"}}, "attributes", 422) for key in ("", "k" * 41, "a\nb", "phone ")),
    ],
)
def test_updates_of_a_customer_follow_the_same_rules(
    api: Client, persona: str, body: Any, field: str, status: int
) -> None:
    """A key too long for its column used to be a server error."""
    error = error_of(api.patch(persona, {"name": "Ada", **body}, content_type="application/json"), status=status)
    assert error["field"] == field
    assert api.get(persona).json()["name"] is None


@pytest.fixture
def ada(api: Client) -> str:
    body = {"phone": "+393475550142", "email": "Ada@people.example"}
    return str(open_with(api, **body).json()["persona"]["id"])


@pytest.mark.parametrize(
    "query",
    [
        {"phone": "+39 347 555 0142"},
        {"phone": "347 555 0142"},
        {"email": "ada@People.example"},
        {"external_id": "ada"},
        {"phone": "+393475550142", "email": "ada@people.example", "external_id": "ada"},
        {"q": "ada@people", "external_id": "ada"},
    ],
)
def test_a_customer_is_found_by_exact_contacts(api: Client, ada: str, query: dict[str, str]) -> None:
    found = api.get("/api/v1/personas", query).json()["results"]
    assert [one["id"] for one in found] == [ada]


@pytest.mark.parametrize(
    "query",
    [
        {"phone": "+39347555014"},
        {"phone": "nobody"},
        {"email": "ada@people"},
        {"external_id": "ad"},
        {"phone": "+393475550142", "external_id": "other"},
    ],
)
def test_a_search_by_part_of_a_contact_finds_no_customer(api: Client, ada: str, query: dict[str, str]) -> None:
    assert api.get("/api/v1/personas", query).json()["results"] == []


@pytest.mark.parametrize("name", ["phone", "email", "external_id"])
def test_an_empty_contact_is_refused(api: Client, name: str) -> None:
    error = error_of(api.get("/api/v1/personas", {name: " "}), status=400)
    assert (error["field"], error["message"]) == (
        name,
        f"{name} is empty. Leave it out, or send the value to look for.",
    )
