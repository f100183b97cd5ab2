"""Validation of action options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from outbound.errors import BlockedAddress, InvalidRequest
from outbound.guard import Guard
from outbound.headers import check_headers
from projects.common.stored_sentences import translated
from projects.records.attributes import type_name
from tools.engine.definition import (
    BODILESS,
    ActionType,
    Method,
    RetryPolicy,
    UrgentMessageOptions,
    WebhookOptions,
    is_schema,
)
from tools.engine.validation.problem import Problem, join
from tools.engine.validation.schema import SCALARS, schema_problems, types_of
from tools.engine.validation.values import (
    boolean_problems,
    choice_problems,
    number_problems,
    object_problems,
    shown,
    text_problems,
)

MAX_MESSAGE_LENGTH = 2_000
MAX_PREFIX_LENGTH = 200
MAX_VALUE_LENGTH = 2_000
MAX_FIXED = 50
# Set by the system; they make a call idempotent and authenticate it.
RESERVED_HEADERS = frozenset({"idempotency-key", "webhook-id", "webhook-timestamp", "webhook-signature"})
JSON_TYPE = "application/json"


def option_problems(options: Any, *, type: Any, path: str) -> Iterator[Problem]:
    """Problems of the options, given the type of the action; none for an unknown type."""
    check = CHECKS.get(type) if isinstance(type, str) else None
    if not isinstance(options, Mapping):
        yield Problem(
            path,
            gettext("%(path)s must be an object, not %(type)s.") % {"path": path, "type": type_name(options)},
        )
    elif check is not None:
        yield from check(options, path)


def _event_problems(options: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for name in options:
        yield Problem(
            join(path, name), gettext("send_event takes no options. Remove '%(name)s'.") % {"name": name[:80]}
        )


def _urgent_message_problems(options: Mapping[str, Any], path: str) -> Iterator[Problem]:
    yield from object_problems(options, path=path, known=UrgentMessageOptions.model_fields)
    yield from message_problems(options, path)


def message_problems(options: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Problems of an urgent message, as an action or an after-action."""
    for name, max_length in (("prefix", MAX_PREFIX_LENGTH), ("message", MAX_MESSAGE_LENGTH)):
        if name in options:
            yield from text_problems(
                options[name],
                path=join(path, name),
                max_length=max_length,
                is_required=False,
                one_line=name == "prefix",
            )


def _webhook_problems(options: Mapping[str, Any], path: str) -> Iterator[Problem]:
    yield from object_problems(options, path=path, known=WebhookOptions.model_fields)
    yield from url_problems(options.get("url"), path=join(path, "url"))
    method = options.get("method", Method.POST)
    yield from choice_problems(method, path=join(path, "method"), choices=[*Method])
    if "query" in options:
        yield from _query_problems(options["query"], path=join(path, "query"))
    if "headers" in options:
        yield from _header_problems(options["headers"], path=join(path, "headers"))
    if "body" in options:
        yield from _body_problems(options["body"], method=method, path=join(path, "body"))
    yield from _call_problems(options, path)


def _call_problems(options: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """Problems of a webhook's settings other than its content."""
    if "delivery" in options:
        yield from choice_problems(options["delivery"], path=join(path, "delivery"), choices=[*RetryPolicy])
    if "callback" in options:
        yield from boolean_problems(options["callback"], path=join(path, "callback"))
    if "timeout_seconds" in options:
        yield from number_problems(
            options["timeout_seconds"], path=join(path, "timeout_seconds"), minimum=1, maximum=30
        )
    if options.get("wait_seconds") is not None:
        yield from number_problems(options["wait_seconds"], path=join(path, "wait_seconds"), minimum=0, maximum=600)


def url_problems(url: Any, *, path: str) -> Iterator[Problem]:
    """Problems of an address that is called: no URL, one with placeholders, or one that the outbound guard blocks."""
    if not isinstance(url, str) or not url:
        yield Problem(
            path,
            gettext("%(path)s must be an address such as https://api.example.com/action, not %(url)s.")
            % {"path": path, "url": shown(url)},
        )
    elif "{" in url or "}" in url:
        yield Problem(
            path,
            gettext("%(path)s can't contain placeholders; put values from the conversation into query or body.")
            % {"path": path},
        )
    else:
        try:
            Guard(allow=settings.OUTBOUND_ALLOW).check_url(url)
        except BlockedAddress as error:
            yield Problem(
                path,
                gettext("%(path)s can't be called: %(error)s Use an address such as https://api.example.com/action.")
                % {"path": path, "error": translated(str(error))},
            )


def _query_problems(query: Any, *, path: str) -> Iterator[Problem]:
    if isinstance(query, Mapping) and is_schema(query):
        yield from schema_problems(query, path=path)
        yield from _flat_problems(query, path=path, types=(*SCALARS, "array"))
    else:
        yield from _fixed_problems(query, path=path)


def _header_problems(headers: Any, *, path: str) -> Iterator[Problem]:
    if isinstance(headers, Mapping) and is_schema(headers):
        yield from schema_problems(headers, path=path)
        yield from _flat_problems(headers, path=path, types=SCALARS)
        properties = headers.get("properties")
        for name in properties if isinstance(properties, Mapping) else ():
            yield from _one_header_problems(name, "x", path=join(path, "properties", name))
    else:
        yield from _fixed_problems(headers, path=path)
        for name, value in headers.items() if isinstance(headers, Mapping) else ():
            yield from _one_header_problems(name, value if isinstance(value, str) else "", path=join(path, name))


def _one_header_problems(name: str, value: str, *, path: str) -> Iterator[Problem]:
    is_ours = name.lower() in RESERVED_HEADERS
    is_other_type = name.lower() == "content-type" and value.partition(";")[0].strip().lower() != JSON_TYPE
    if is_ours or is_other_type:
        yield Problem(
            path,
            gettext("The header %(name)s is set by the system and can't be changed; remove it.") % {"name": name[:64]},
        )
        return
    try:
        check_headers({name: value})
    except InvalidRequest as error:
        yield Problem(path, str(error))


def _body_problems(body: Any, *, method: Any, path: str) -> Iterator[Problem]:
    if method in BODILESS:
        yield Problem(
            path, gettext("A %(method)s request carries no body; use query, or another method.") % {"method": method}
        )
    elif not isinstance(body, Mapping):
        yield Problem(
            path,
            gettext('%(path)s must be a JSON Schema such as {"type": "object", "properties": {…}}.') % {"path": path},
        )
    else:
        yield from schema_problems(body, path=path)


def _fixed_problems(fixed: Any, *, path: str) -> Iterator[Problem]:
    """Problems of fixed texts by name."""
    if not isinstance(fixed, Mapping):
        yield Problem(
            path,
            gettext("%(path)s must be an object: texts by name, or a JSON Schema, not %(type)s.")
            % {"path": path, "type": type_name(fixed)},
        )
        return
    if len(fixed) > MAX_FIXED:
        yield Problem(
            path,
            gettext("%(path)s has %(count)s entries; the limit is %(most)s.")
            % {"path": path, "count": len(fixed), "most": MAX_FIXED},
        )
    for name, value in fixed.items():
        if not isinstance(value, str) or len(value) > MAX_VALUE_LENGTH:
            at = join(path, name)
            yield Problem(
                at,
                gettext("%(path)s must be text of at most %(most)s characters, not %(value)s.")
                % {"path": at, "most": format(MAX_VALUE_LENGTH, ","), "value": shown(value)},
            )


def _flat_problems(schema: Mapping[str, Any], *, path: str, types: tuple[str, ...]) -> Iterator[Problem]:
    """Query and headers must be flat: no objects, and lists of plain values only in a query."""
    properties = schema.get("properties")
    for name, node in properties.items() if isinstance(properties, Mapping) else ():
        found = set(types_of(node) or ()) - {"null"} if isinstance(node, Mapping) else set()
        items = node.get("items", {}) if isinstance(node, Mapping) else {}
        inner = set(types_of(items) or ()) if isinstance(items, Mapping) else set()
        if found - set(types) or inner - set(SCALARS):
            at = join(path, "properties", name)
            yield Problem(
                at,
                gettext("%(path)s must be plain: %(types)s; objects belong in body.")
                % {"path": at, "types": ", ".join(types)},
            )


CHECKS: Mapping[str, Callable[[Mapping[str, Any], str], Iterator[Problem]]] = {
    ActionType.SEND_EVENT: _event_problems,
    ActionType.SEND_WEBHOOK: _webhook_problems,
    ActionType.SEND_URGENT_MESSAGE: _urgent_message_problems,
}
