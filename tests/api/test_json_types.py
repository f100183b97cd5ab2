"""Values of another JSON type are refused, never converted."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from projects.api.exception_mapping import first_error
from projects.api.serializers import StrictSerializer
from tests.api.conftest import error_of
from tools.engine.function_calling.contexts import ContextRefused, read_context


class Inner(StrictSerializer):
    loud = serializers.BooleanField(required=False)


class Everything(StrictSerializer):
    text = serializers.CharField(required=False, allow_null=True)
    loud = serializers.BooleanField(required=False)
    count = serializers.IntegerField(required=False)
    who = serializers.UUIDField(required=False)
    mood = serializers.ChoiceField(choices=["1", "2"], required=False)
    words = serializers.ListField(child=serializers.CharField(), required=False)
    names = serializers.DictField(child=serializers.CharField(), required=False)
    inner = Inner(required=False)


class Query(Everything):
    is_query = True


CONVERTED: list[tuple[dict[str, Any], str]] = [
    ({"text": 5}, "text"),
    ({"text": 1.5}, "text"),
    ({"loud": "true"}, "loud"),
    ({"loud": 1}, "loud"),
    ({"loud": "no"}, "loud"),
    ({"count": "5"}, "count"),
    ({"count": True}, "count"),
    ({"count": 1.5}, "count"),
    ({"who": 5}, "who"),
    ({"mood": 1}, "mood"),
    ({"words": ["a", 5]}, "words.1"),
    ({"names": {"a": 5}}, "names.a"),
    ({"inner": {"loud": 0}}, "inner.loud"),
]


@pytest.mark.parametrize(("body", "field"), CONVERTED)
def test_a_value_of_another_type_is_refused_by_name(body: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Everything(data=body).is_valid(raise_exception=True)
    assert first_error(raised.value).field == field


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ({"count": 5.0}, 5),
        ({"text": None}, None),
        ({"text": "5"}, "5"),
        ({"loud": False}, False),
        ({"words": ["a"]}, ["a"]),
        ({"names": {"a": "b"}}, {"a": "b"}),
    ],
)
def test_a_value_of_the_right_type_is_taken(body: dict[str, Any], value: object) -> None:
    checked = Everything(data=body)
    checked.is_valid(raise_exception=True)
    assert [*checked.validated_data.values()] == [value]


def test_a_query_string_is_text() -> None:
    query = Query(data={"count": "5", "loud": "true"})
    query.is_valid(raise_exception=True)
    assert query.validated_data == {"count": 5, "loud": True}


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("resources", {"name": "Table 1", "capacity": "4"}, "capacity"),
        ("knowledge", {"title": "Parking", "body": "Behind the house.", "published": "yes"}, "published"),
        ("conversations", {"channel": "chat", "persona": {"external_id": 5}}, "persona.external_id"),
    ],
)
def test_endpoints_refuse_what_they_used_to_convert(api: Client, path: str, body: dict[str, Any], field: str) -> None:
    answer = api.post(f"/api/v1/{path}", body, content_type="application/json")
    assert error_of(answer, status=400)["field"] == field


@pytest.mark.parametrize("verified", ["true", "yes", 1, None])
def test_a_caller_is_verified_only_by_true(verified: object) -> None:
    """Text that reads like a yes must not open what verification protects."""
    conversation_id = uuid4()
    document = {
        "channel": "phone",
        "callSid": "CA1",
        "authToken": "secret",
        "callerPhone": "+393123456789",
        "interactionId": str(conversation_id),
        "callerVerified": verified,
        "callerId": "1",
    }
    with pytest.raises(ContextRefused, match="callerVerified"):
        read_context(document, business_id=uuid4(), conversation_id=conversation_id, channel="phone")
    read_context(
        {**document, "callerVerified": True}, business_id=uuid4(), conversation_id=conversation_id, channel="phone"
    )
