"""Restores what a member just deleted, from a snapshot in their session."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core import serializers
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext

from console.agent.page import tab_url
from conversations.inbox.tags import restore_tag
from projects.agents.services import restore_key
from projects.common.api_error import Unprocessable
from projects.knowledge.services import Writer, restore_article
from projects.models import ApiKey, User
from projects.models.attribute_catalogue import attribute_label
from projects.models.key import Scope
from projects.models.permissions import Entry
from projects.records.attributes import restore_attribute
from todos.content.types import restore_type
from tools.engine.custom import service as custom_tools
from tools.engine.events.service import restore_subscription
from tools.evaluation.kept import WrongCase, restore_case
from tools.services.bookings.resources import restore_resource


@dataclass(frozen=True)
class Undone:
    """The confirmation of a reversal, and the page that shows it."""

    words: str
    url: str


# Reverses an action by its details. Raises ApiError, PermissionDenied and Http404.
Reversal = Callable[[Entry, User, Mapping[str, Any]], Undone]


def snapshot_of(row: Model) -> str:
    """A row as text, from which it can be stored again. Secrets stay encrypted."""
    return str(serializers.serialize("json", [row]))


def _article(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    article = _row_of(entry, details)
    restore_article(article, by=Writer(user))
    return Undone(
        gettext("“%(title)s” restored.") % {"title": article.title},
        reverse("article", args=[entry.project.slug, article.slug]),
    )


def _resource(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    resource = _row_of(entry, details)
    restore_resource(resource)
    return Undone(
        gettext("%(name)s restored.") % {"name": resource.name}, reverse("resources", args=[entry.project.slug])
    )


def _attribute(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    row = _row_of(entry, details)
    restore_attribute(row)
    return Undone(
        gettext("%(key)s restored.") % {"key": attribute_label(row.key)}, tab_url(entry.project.slug, "attributes")
    )


def _tool(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    _require_configure(entry)
    name, version, secrets = details["tool"], details["version"], details["kept"]
    custom_tools.undo_removal(entry.project, name, version=version, secrets=secrets, author=entry.member)
    return Undone(gettext("%(name)s restored.") % {"name": name}, reverse("tool", args=[entry.project.slug, name]))


def _todo_type(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    _require_configure(entry)
    restored = restore_type(entry.project, UUID(details["type"]))
    return Undone(gettext("%(name)s restored.") % {"name": restored.name}, tab_url(entry.project.slug, "todos"))


def _key(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    _require_configure(entry)
    key = ApiKey.objects.filter(project=entry.project, pk=details["key"]).first()
    if key is None:
        raise Http404
    restore_key(key, by=user)
    return Undone(
        gettext("%(name)s is active again.") % {"name": key.name}, reverse("api_keys", args=[entry.project.slug])
    )


def _subscription(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    restore_subscription(_row_of(entry, details))
    return Undone(gettext("Subscription restored."), tab_url(entry.project.slug, "integrations") + "#events")


def _tag(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    kept = json.loads(details["kept"])
    tag = _read(entry, kept["tag"])
    restore_tag(tag, [UUID(one) for one in kept["conversations"]])
    return Undone(
        gettext("%(name)s restored.") % {"name": tag.name}, reverse("canned_replies", args=[entry.project.slug])
    )


def _case(entry: Entry, user: User, details: Mapping[str, Any]) -> Undone:
    try:
        if not restore_case(entry.project, UUID(details["case"])):
            raise Http404
    except WrongCase as error:
        raise Unprocessable("invalid", str(error)) from error
    return Undone(gettext("Case restored."), reverse("regression_cases", args=[entry.project.slug]))


def _row_of(entry: Entry, details: Mapping[str, Any]) -> Any:
    """The deleted row of the snapshot, for members who may change the settings. Raises Http404 for another project's."""
    _require_configure(entry)
    return _read(entry, details["kept"])


def _read(entry: Entry, snapshot: str) -> Any:
    row: Any = next(serializers.deserialize("json", snapshot)).object
    if row.project_id != entry.project.pk:
        raise Http404
    return row


def _require_configure(entry: Entry) -> None:
    if not entry.may(Scope.CONFIGURE):
        raise PermissionDenied(gettext("Only owners and admins can undo this."))


RESTORATIONS: Mapping[str, Reversal] = {
    "article": _article,
    "resource": _resource,
    "attribute": _attribute,
    "tool": _tool,
    "todo_type": _todo_type,
    "key": _key,
    "subscription": _subscription,
    "tag": _tag,
    "case": _case,
}
