"""Log lines contain no secrets."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from datetime import datetime

import pytest
from django.core.exceptions import DisallowedHost
from django.db import DataError, IntegrityError

from jobs.errors import GiveUp
from llm.errors import LlmError
from projects.common.logs import JsonFormatter, RedactingFormatter, redact
from telemetry.place import Place, at
from tests.processes import ROOT

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


def json_of(record: logging.LogRecord) -> dict:
    return json.loads(JsonFormatter().format(record))


def record_of(message: str, *args: object, exc_info: object = None) -> logging.LogRecord:
    return logging.LogRecord("edge", logging.ERROR, __file__, 1, message, args, exc_info)  # type: ignore[arg-type]


def raised(error: Exception) -> object:
    try:
        raise error
    except type(error):
        return sys.exc_info()


def test_a_json_line_carries_the_ids_of_the_work() -> None:
    place = Place(trace="00-" + "ab" * 16 + "-" + "cd" * 8 + "-01", request="r", job="j", lane="reply", tenant="t")
    with at(place):
        found = json_of(record_of("used %s", KEY))
    assert (found["request"], found["job"], found["lane"], found["tenant"]) == ("r", "j", "reply", "t")
    assert found["trace"] == "ab" * 16
    assert found["message"] == "used mg_0123abcd_[redacted]"
    assert datetime.fromisoformat(found["time"]).tzinfo is not None


def test_a_json_line_has_no_empty_fields() -> None:
    assert set(json_of(record_of("hello"))) == {"time", "level", "logger", "message"}


def test_a_json_error_has_its_type_and_its_calls() -> None:
    found = json_of(record_of("failed", exc_info=raised(RuntimeError(f"refused {KEY}"))))
    assert found["error"] == "RuntimeError: refused mg_0123abcd_[redacted]"
    assert found["stack"][-1].endswith(" raised")


@pytest.mark.parametrize(
    "error",
    [
        ValueError("invalid literal for int() with base 10: 'my secret wish'"),
        KeyError("my secret wish"),
        LlmError("The answer ended early: my secret wish"),
        IntegrityError("duplicate key value\nDETAIL:  Key (phone)=(my secret wish) already exists."),
        DataError('invalid input syntax for type uuid: "my secret wish"'),
        GiveUp("my secret wish"),
    ],
)
def test_user_text_is_not_logged_with_an_error(error: Exception) -> None:
    """Values of libraries' messages come from requests, rows and models."""
    record = record_of("failed", exc_info=raised(error))
    assert "my secret wish" not in JsonFormatter().format(record)
    assert "my secret wish" not in RedactingFormatter("%(message)s").format(record)
    assert type(error).__name__ in JsonFormatter().format(record)


def test_the_cause_of_an_error_is_logged_without_user_text() -> None:
    wish = " ".join(("my", "secret", "wish"))
    try:
        try:
            raise ValueError(wish)
        except ValueError as cause:
            raise RuntimeError("it failed") from cause
    except RuntimeError:
        line = line_of("failed", exc_info=sys.exc_info())
    assert wish not in line
    assert "ValueError" in line
    assert "RuntimeError: it failed" in line


@pytest.mark.parametrize(
    ("form", "pattern"),
    [("text", r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} WARNING edge hello"), ("json", r'\{"time": "\d{4}-.*"hello"\}')],
)
def test_a_process_writes_lines_in_the_operators_form(form: str, pattern: str) -> None:
    code = """import logging; from django.conf import settings; from django.utils.log import configure_logging
configure_logging(settings.LOGGING_CONFIG, settings.LOGGING); logging.getLogger('edge').warning('hello')"""
    env = {**os.environ, "MAKEGOOD_LOG_FORMAT": form}
    ran = subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True, check=True)
    assert re.fullmatch(pattern, ran.stderr.strip())
