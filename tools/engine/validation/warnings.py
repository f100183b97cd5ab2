"""Warnings about a valid definition: plain-text secrets, addresses without TLS, events without a subscriber."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, urlsplit

from django.utils.translation import gettext

from projects.common.translation import lazy
from projects.models import Project
from tools.engine.definition import ActionType, ToolDefinition, WebhookOptions
from tools.engine.events.subscribers import is_delivered, without_subscriber
from tools.engine.validation.problem import Problem

WORDS = r"api_?key|key|token|secret|pass(word|wd)?|auth\w*|sig(nature)?|credentials?|jwt"
SECRET_NAME = re.compile(rf"(^|[_\-.])({WORDS})($|[_\-.])", re.IGNORECASE)
SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key", "api-key"})
NOBODY = lazy(
    "Nobody is subscribed to this event, so each promise of it becomes a todo. Add a subscription under Integrations."
)
WAY = lazy("Use a secret header instead; it is encrypted and never shown.")


def warnings_for(project: Project, name: str, definition: ToolDefinition) -> list[Problem]:
    """The warnings about a tool of the project: about its event's subscriber, and about its definition."""
    if is_delivered(name, definition) and without_subscriber(project.pk, [name]):
        return [Problem("action", str(NOBODY)), *warnings_of(definition)]
    return warnings_of(definition)


def warnings_of(definition: ToolDefinition) -> list[Problem]:
    """The warnings, in the order of the document."""
    if definition.action.type is not ActionType.SEND_WEBHOOK:
        return []
    return list(_webhook_warnings(definition.action.webhook))


def _webhook_warnings(options: WebhookOptions) -> Iterator[Problem]:
    path = "action.options"
    if options.url.lower().startswith("http://"):
        yield Problem(
            f"{path}.url",
            gettext("The address uses http://, so others can read and change the call; use https://."),
        )
    for name, value in parse_qsl(urlsplit(options.url).query):
        if value and is_secret_name(name):
            yield Problem(
                f"{path}.url",
                gettext("The address holds '%(name)s', which looks like a secret. %(way)s")
                % {"name": name[:80], "way": WAY},
            )
    yield from _fixed_warnings(options.fixed_query, path=f"{path}.query")
    yield from _fixed_warnings(options.fixed_headers, path=f"{path}.headers")


def _fixed_warnings(fixed: Mapping[str, str], *, path: str) -> Iterator[Problem]:
    for name, value in fixed.items():
        if value and (is_secret_name(name) or name.lower() in SECRET_HEADERS):
            yield Problem(
                f"{path}.{name[:80]}",
                gettext("'%(name)s' looks like a secret. %(way)s") % {"name": name[:80], "way": WAY},
            )


def is_secret_name(name: str) -> bool:
    """True if a value with this name is probably a secret."""
    # Also in camel case: accessToken, apiKey.
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return SECRET_NAME.search(spaced) is not None
