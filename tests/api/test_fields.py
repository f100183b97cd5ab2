"""Validation messages and field names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from projects.api.exception_mapping import first_error
from projects.api.serializers import StrictSerializer
from projects.common.api_error import ApiError
from tests.api.edge import NoteInput


class MoodInput(StrictSerializer):
    """One field of each type with a custom error message."""

    mood = serializers.ChoiceField(choices=["happy", "sad"], required=False)
    loud = serializers.BooleanField(required=False)
    count = serializers.IntegerField(required=False)
    who = serializers.UUIDField(required=False)
    about = serializers.DictField(required=False)
    songs = serializers.ListField(required=False)
    note = NoteInput(required=False)
    notes = serializers.ListField(child=NoteInput(), required=False)


def kinds_of(kind: type[StrictSerializer]) -> list[type[StrictSerializer]]:
    """All serializers loaded by the views."""
    return [each for below in kind.__subclasses__() for each in (below, *kinds_of(below))]


def test_requests_never_share_a_mutable_default() -> None:
    """One serializer class validates all bodies, so a default list has to be created for each."""
    import_module("config.api_urls")
    fields = [field for kind in kinds_of(StrictSerializer) for field in kind().fields.values()]
    assert len(fields) > 50
    assert not [field for field in fields if isinstance(field.default, list | dict | set)]


def refusal(data: dict[str, Any]) -> ApiError:
    with pytest.raises(ValidationError) as raised:
        NoteInput(data=data).is_valid(raise_exception=True)
    return first_error(raised.value)


def accepted(content: str) -> str:
    note = NoteInput(data={"content": content})
    note.is_valid(raise_exception=True)
    return note.validated_data["content"]


def test_content_of_8001_characters_is_refused_with_its_length() -> None:
    problem = refusal({"content": "a" * 8001})
    assert (problem.code, problem.message) == ("too_long", "content has 8,001 characters; the limit is 8,000.")


@pytest.mark.parametrize(
    "content", ["", "   ", "\t\n", "\u200b\u200d\ufeff", "\u00a0\u2003\u2028", "\u202e", "\u3164\u2800"]
)
def test_invisible_content_counts_as_empty(content: str) -> None:
    problem = refusal({"content": content})
    assert (problem.code, problem.message) == ("empty", "content is empty.")


@pytest.mark.parametrize("content", ["a" * 8000, "\u0301" * 8000, "a\u202egnp.exe", "👩‍👩‍👧", " two  spaces "])
def test_content_is_stored_exactly(content: str) -> None:
    assert accepted(content) == content


@pytest.mark.parametrize(
    ("value", "what"), [(5, "a number"), (True, "true or false"), (["a"], "a list"), ({}, "an object")]
)
def test_non_text_content_is_refused(value: Any, what: str) -> None:
    assert refusal({"content": value}).message == f"content must be text, not {what}."


def test_a_missing_field_is_named() -> None:
    problem = refusal({})
    assert (problem.code, problem.message, problem.field) == ("required", "content is required.", "content")


def test_null_is_refused_with_the_fields_name() -> None:
    assert refusal({"content": None}).message == "content may not be null."


def test_an_unknown_field_is_refused_with_the_closest_name() -> None:
    problem = refusal({"content": "a", "contnet": "b"})
    assert (problem.code, problem.message) == ("unknown_field", "Unknown field 'contnet'. Did you mean 'content'?")


def test_an_unrecognizable_field_is_refused_with_all_names() -> None:
    message = refusal({"content": "a", "tennant": 2}).message
    assert message == "Unknown field 'tennant'. Did you mean one of: content, count, metadata, persona?"


@pytest.mark.parametrize("name", ["tenant", "organization", "project", "id", "created_at"])
def test_read_only_fields_cannot_be_set(name: str) -> None:
    problem = refusal({"content": "a", name: 2})
    assert (problem.code, problem.message, problem.field) == ("forbidden_field", f"{name} cannot be set.", name)


def test_a_nested_error_has_a_dotted_path() -> None:
    problem = refusal({"content": "a", "persona": {"external_id": "x" * 21}})
    assert problem.field == "persona.external_id"
    assert problem.message == "persona.external_id must have no more than 20 characters."


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mood": "blue"}, "mood must be one of: happy, sad."),
        ({"loud": "maybe"}, "loud must be true or false."),
        ({"count": "two"}, "count must be a whole number."),
        ({"who": "Ada"}, "who must be a valid UUID."),
        ({"about": []}, "about must be a JSON object."),
        ({"songs": "all"}, "songs must be a list."),
        ({"note": "Ada"}, "note must be a JSON object."),
        ({"notes": ["Ada"]}, "notes.0 must be a JSON object."),
    ],
)
def test_a_value_of_the_wrong_type_is_refused_with_the_right_one(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as raised:
        MoodInput(data=wrong).is_valid(raise_exception=True)
    assert first_error(raised.value).message == message


def test_a_nested_unknown_field_has_a_dotted_path() -> None:
    assert refusal({"content": "a", "persona": {"id": 1}}).message == "persona.id cannot be set."


def test_an_error_in_a_list_has_its_index() -> None:
    detail = {"steps": [{}, {"text": ["This field is required."]}]}
    assert first_error(ValidationError(detail)).field == "steps.1.text"


def test_an_error_of_the_whole_body_has_no_field() -> None:
    problem = first_error(ValidationError({"non_field_errors": ["Ends before it begins."]}))
    assert (problem.field, problem.message) == (None, "Ends before it begins.")
