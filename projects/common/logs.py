"""Log formatting: one line per record, with secrets redacted."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from copy import copy
from datetime import UTC, datetime
from traceback import extract_tb, format_tb
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError
from psycopg import Error as PsycopgError
from redis import RedisError

from telemetry.place import current_place
from telemetry.recording import own_slot

MASK = "[redacted]"
# Errors whose messages speak of servers and code, never of what somebody wrote.
PLAIN_ERRORS = (OSError, RedisError, ImproperlyConfigured, ImportError)
PLAIN_TYPES = frozenset({RuntimeError, TypeError, AttributeError, NameError, NotImplementedError, AssertionError})

# Each pattern keeps what identifies the secret: a key's prefix, a URL's user, a parameter's name.
_SECRETS = [
    (re.compile(r"\b(mg_[0-9a-f]{8}_)[\w-]+"), rf"\1{MASK}"),
    (re.compile(r"\b(mgi_)[\w-]+"), rf"\1{MASK}"),
    # Password reset and e-mail confirmation links give access to an account.
    (re.compile(r"(/password/reset/key/\w+-|/confirm-email/)(?!set-password)[\w:.-]+"), rf"\1{MASK}"),
    # The URL for posting a tool's result is a credential too.
    (re.compile(r"(/tool-results/)[\w-]+"), rf"\1{MASK}"),
    (re.compile(r"\b(sk-)[\w-]{6,}"), rf"\1{MASK}"),
    (re.compile(r"\b(bearer)(\s+|%20)[^\s'\",]+", re.IGNORECASE), rf"\1 {MASK}"),
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@'\"]*):[^\s/'\"]+@", re.IGNORECASE), rf"\1:{MASK}@"),
    (
        re.compile(
            r"\b((?:[\w-]*_)?(?:password|passwd|secret|token|api_?key))(['\"]?\s*[=:]\s*['\"]?)[^\s&'\",;}]{8,}",
            re.IGNORECASE,
        ),
        rf"\1\2{MASK}",
    ),
]


def redact(text: str) -> str:
    """The text without API keys, bearer tokens and passwords."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


class RedactingFormatter(logging.Formatter):
    """Formats a record and its traceback as one redacted line.

    Django's security warnings are logged without their tracebacks, because any client can trigger them at will.
    """

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(without_trivia(record))).replace("\r", "\\r").replace("\n", "\\n")

    def formatException(self, ei: Any) -> str:
        """The traceback, with the messages of those errors only that quote nobody."""
        return "\n".join(_traceback_lines(ei[1]))


class JsonFormatter(logging.Formatter):
    """Formats a record as one JSON object, with the ids of the work it belongs to."""

    def format(self, record: logging.LogRecord) -> str:
        record = without_trivia(record)
        place = current_place()
        error = record.exc_info[1] if record.exc_info else None
        document = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
            "process": own_slot(),
            "request": place.request,
            "job": place.job,
            "lane": place.lane,
            "tenant": place.tenant,
            "trace": place.trace_id,
            "error": redact(describe_error(error)) if error is not None else "",
            "stack": [redact(line) for line in _stack_of(error)] if error is not None else [],
        }
        return json.dumps({name: value for name, value in document.items() if value}, ensure_ascii=False)


def without_trivia(record: logging.LogRecord) -> logging.LogRecord:
    """The record, without a traceback that any client can cause."""
    if record.name.startswith("django.security."):
        record = copy(record)
        record.exc_info = record.exc_text = None
    return record


def describe_error(error: BaseException) -> str:
    """The type of an error, and its message if it can't quote a customer's words or a model's."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    message = _message_of(error)
    return f"{name}: {message}" if message else name


def _message_of(error: BaseException) -> str:
    if isinstance(error, DatabaseError | InterfaceError | PsycopgError):
        # The first line, without the rows and values that PostgreSQL quotes.
        return str(error).partition("\n")[0].partition(': "')[0]
    if isinstance(error, PLAIN_ERRORS) or type(error) in PLAIN_TYPES:
        return str(error)
    return ""


def _stack_of(error: BaseException) -> list[str]:
    """The calls that led to an error, the innermost last."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in extract_tb(error.__traceback__)]


def _traceback_lines(error: BaseException, *, told: frozenset[int] = frozenset()) -> Iterator[str]:
    """A traceback in Python's form, from the first cause on. Errors that cause each other are told once."""
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    told |= {id(error)}
    if earlier is not None and id(earlier) not in told:
        yield from _traceback_lines(earlier, told=told)
        yield "Caused:" if error.__cause__ is earlier else "During its handling:"
    yield "Traceback (most recent call last):"
    yield from (line.rstrip("\n") for line in format_tb(error.__traceback__))
    yield describe_error(error)
