"""Accepted content of JSON bodies."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projects.api.parsers import parse_object
from projects.common.api_error import ApiError


def refusal(body: bytes) -> ApiError:
    with pytest.raises(ApiError) as raised:
        parse_object(body)
    assert raised.value.status_code == 400
    return raised.value


def test_an_object_is_parsed_unchanged() -> None:
    assert parse_object(b'{"text": "ciao", "list": [1, -2.5, null, true]}') == {
        "text": "ciao",
        "list": [1, -2.5, None, True],
    }


@pytest.mark.parametrize("body", [b"", b"  \r\n\t"])
def test_an_empty_body_is_an_empty_object(body: bytes) -> None:
    assert parse_object(body) == {}


def test_32_levels_are_accepted() -> None:
    assert parse_object(b'{"a":' + b"[" * 31 + b"]" * 31 + b"}")


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b'{"a":' + b"[" * 32 + b"]" * 32 + b"}"])
def test_deeper_nesting_is_refused(body: bytes) -> None:
    problem = refusal(body)
    assert (problem.code, problem.message) == ("json_too_deep", "JSON may be nested at most 32 levels.")


def test_brackets_inside_strings_are_not_nesting() -> None:
    body = json.dumps({"a": "[{" * 50 + '"\\' + "[" * 50}).encode()
    assert parse_object(body)["a"].startswith("[{[{")


def test_adjacent_brackets_are_not_nesting() -> None:
    assert parse_object(json.dumps({"a": [[]] * 500}).encode())


@pytest.mark.parametrize("body", [b'"' + b'\\"' * 120_000, b'{"' + b'\\"' * 120_000, b"[" * 33 + b'\\"' * 120_000])
def test_a_body_of_quotes_is_refused_quickly(body: bytes) -> None:
    """A bracket scan that backtracks over strings would take minutes here."""
    refusal(body)


@pytest.mark.parametrize(
    ("body", "message", "field"),
    [
        (b'{"text":"a","metadata":{"x":"\\u0000"}}', "metadata.x contains a NUL character.", "metadata.x"),
        (b'{"metadata":[{"x":"a\\u0000b"}]}', "metadata.0.x contains a NUL character.", "metadata.0.x"),
        (b'{"metadata":{"\\u0000":1}}', "metadata contains a NUL character.", "metadata"),
        (b'{"\\u0000":1}', "\\u0000 contains a NUL character.", "\\u0000"),
    ],
)
def test_a_nul_character_is_refused_with_its_position(body: bytes, message: str, field: str) -> None:
    problem = refusal(body)
    assert (problem.message, problem.field) == (message, field)


@pytest.mark.parametrize(
    "body",
    [
        b'{"metadata":{"x":"\\ud800"}}',
        b'{"metadata":"\\udfff"}',
        b'{"metadata":["\\ud83d"]}',
        b'{"metadata":{"\\ud800":1}}',
    ],
)
def test_a_lone_surrogate_is_refused(body: bytes) -> None:
    assert refusal(body).message == "metadata contains text that is not valid Unicode."


def test_a_surrogate_pair_is_one_character() -> None:
    assert parse_object(b'{"a":"\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.parametrize("body", [b'{"\\ud800":1}', b'{"\\ud800":1,"\\ud800":2}', b'{"a":{"\\ud800":"\\u0000"}}'])
def test_an_error_is_encodable_whatever_it_quotes(body: bytes) -> None:
    shape = refusal(body).body(request_id="r")
    assert json.dumps(shape, ensure_ascii=False).encode()


@pytest.mark.parametrize("digits", ["9" * 999, "9" * 100_000, str(2**63), str(-(2**63) - 1)])
def test_an_integer_beyond_64_bits_is_refused_with_field_and_range(digits: str) -> None:
    problem = refusal(f'{{"a":{{"n":{digits}}}}}'.encode())
    assert problem.message == "a.n must be between -9223372036854775808 and 9223372036854775807."
    assert problem.field == "a.n"


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0])
def test_a_64_bit_integer_is_accepted(number: int) -> None:
    assert parse_object(f'{{"n":{number}}}'.encode()) == {"n": number}


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_nan_infinity_and_overflow_are_refused_with_the_field(number: str) -> None:
    problem = refusal(f'{{"a":[{number}]}}'.encode())
    assert problem.message == "a.0 must be a number between -1.8e308 and 1.8e308."


@pytest.mark.parametrize("body", [b'{"text":"a","text":"b"}', b'{"a":[{"text":1,"b":2,"text":1}]}'])
def test_a_duplicate_key_is_refused(body: bytes) -> None:
    problem = refusal(body)
    assert (problem.code, problem.message) == ("duplicate_key", "Key 'text' appears twice.")


@pytest.mark.parametrize(
    ("body", "what"),
    [(b"[]", "a list"), (b'"a"', "text"), (b"1", "a number"), (b"null", "null"), (b"true", "true or false")],
)
def test_anything_but_an_object_is_refused(body: bytes, what: str) -> None:
    assert refusal(body).message == f"Body must be a JSON object, not {what}."


@pytest.mark.parametrize("body", [b'{"a":"\xff"}', b"\xff\xfe{\x00}\x00", b'{"a":"\xed\xa0\x80"}'])
def test_a_body_that_is_not_utf8_is_refused(body: bytes) -> None:
    assert "not valid UTF-8 at byte" in refusal(body).message


def test_broken_json_is_refused_with_its_position() -> None:
    assert (
        refusal(b'{"a": 1,\n "b" 2}').message == "Body is not valid JSON at line 2, column 6: Expecting ':' delimiter."
    )


@pytest.mark.parametrize(
    "body", [b"\xef\xbb\xbf{}", b"{'a':1}", b"{} {}", b'{"a":01}', b'{"a":"\x00"}', b"{" * 32, b'{"a']
)
def test_malformed_json_is_refused(body: bytes) -> None:
    assert refusal(body).code == "invalid_json"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner)
    ),
    max_leaves=20,
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), JSON))
def test_every_valid_object_passes_unchanged(value: dict[str, object]) -> None:
    assert parse_object(json.dumps(value).encode()) == value


@given(st.binary(max_size=300))
def test_any_bytes_give_an_object_or_an_error(body: bytes) -> None:
    with suppress(ApiError):
        assert isinstance(parse_object(body), dict)
