"""Log lines contain no secrets."""

from __future__ import annotations

import logging
import sys

import pytest
from django.core.exceptions import DisallowedHost

from projects.common.logs import RedactingFormatter, redact

KEY = "mg_0123abcd_" + "Zz-_9" * 8 + "abc"


def line_of(message: str, *args: object, exc_info: object = None) -> str:
    record = logging.LogRecord("edge", logging.ERROR, __file__, 1, message, args, exc_info)  # type: ignore[arg-type]
    return RedactingFormatter("%(levelname)s %(name)s %(message)s").format(record)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"key {KEY} was used", KEY[12:]),
        ("401: Incorrect API key provided: sk-proj-abcDEF123456", "abcDEF123456"),
        ("headers {'Authorization': 'Bearer abc.def-123'}", "abc.def-123"),
        ("authorization=bearer%20abc.def-123", "abc.def-123"),
        ("postgresql://mg_app:s3cr%2Ft!@127.0.0.1:5432/makegood", "s3cr%2Ft!"),
        ("redis://:p@ss@localhost:6379/0", "p@ss"),
        ("GET /hook?access_token=0123456789abc&x=1", "0123456789abc"),
        ('{"client_secret": "0123456789abc"}', "0123456789abc"),
        ("connection failed: host=db password=0123456789abc", "0123456789abc"),
    ],
)
def test_a_secret_is_redacted(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert "[redacted]" in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "role mg_app can't connect",
        "task-abcdefgh of the desk-drawer",
        "http://127.0.0.1:8000/api/v1/conversations",
        "job token=17 was taken over",
        "mailto:owner@nello.example",
    ],
)
def test_ordinary_words_are_not_redacted(text: str) -> None:
    assert redact(text) == text


def test_a_redacted_key_can_still_be_recognized() -> None:
    assert redact(KEY) == "mg_0123abcd_[redacted]"


def test_arguments_are_redacted() -> None:
    assert line_of("used %s", KEY) == "ERROR edge used mg_0123abcd_[redacted]"


def test_a_record_is_one_line() -> None:
    assert line_of("one\ntwo\r\nthree") == r"ERROR edge one\ntwo\r\nthree"


def test_errors_anyone_can_trigger_have_no_traceback() -> None:
    try:
        raise DisallowedHost("Invalid HTTP_HOST header: 'evil.example'.")
    except DisallowedHost as error:
        record = logging.LogRecord(
            "django.security.DisallowedHost", logging.ERROR, "", 1, str(error), (), sys.exc_info()
        )
    line = RedactingFormatter("%(name)s %(message)s").format(record)
    assert line == "django.security.DisallowedHost Invalid HTTP_HOST header: 'evil.example'."


def test_a_traceback_is_redacted_on_the_same_line() -> None:
    try:
        raise RuntimeError(f"refused {KEY}")
    except RuntimeError:
        line = line_of("failed", exc_info=sys.exc_info())
    assert "RuntimeError: refused mg_0123abcd_[redacted]" in line
    assert "\n" not in line
    assert KEY not in line
