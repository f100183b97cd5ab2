"""Reading and writing typed attributes, with inheritance from the organization."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Protocol, cast
from uuid import UUID

from django.contrib.postgres.aggregates import JSONBAgg
from django.db.models import OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, JSONObject
from django.utils.translation import gettext
from pydantic_core import from_json

from projects.common import crypto
from projects.common.api_error import Conflict
from projects.models.attribute import Attribute, AttributeType
from projects.models.organization import Project, lock_project
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import current_organization_id, is_platform

GATES = "project_attributes_setting_"
ENUMS: Mapping[str, tuple[str, ...]] = {
    "project_attributes_setting_booking_cancellation_type": ("endpoint", "project", "manual"),
    "project_attributes_setting_calendar_event_integration": ("none", "google_integration", "caldav_integration"),
}
TRUE, FALSE = {"true", "1"}, {"false", "0"}
MODEL_KEY = "model_api_key"
# The key of a draft whose model is on another server than the published one.
DRAFT_MODEL_KEY = "model_api_key_draft"
# Only stored as a secret. As plain text it would be visible.
ALWAYS_SECRET = frozenset({MODEL_KEY, DRAFT_MODEL_KEY})


class Origin(StrEnum):
    """The owner of an attribute's row."""

    PROJECT = "project"
    ORGANIZATION = "organization"


class WrongValue(ValueError):
    """The value doesn't match the attribute's type."""


@dataclass(frozen=True)
class Resolved:
    """An attribute as it applies to a project. `value` is None for a secret; use `read_secret`."""

    key: str
    type: AttributeType
    value: Any
    origin: Origin


class ComputedAttribute(Protocol):
    """An attribute backed by the rows of another model, always at project level."""

    def read(self, project: Project) -> Any | None:
        """The value as JSON, or None."""

    def write(self, project: Project, value: Any) -> None:
        """Update the rows to match the value. Raises WrongValue or ApiError, and changes nothing then."""

    def remove(self, project: Project) -> bool:
        """Delete the rows. Returns False if there were none."""


# Registered by the apps when they are ready.
COMPUTED: dict[str, ComputedAttribute] = {}

# Validators by key, registered by the apps: they return the value to store, or raise WrongValue.
SHAPES: dict[str, Callable[[Any], Any]] = {}


def every_attribute(project: Project) -> dict[str, Resolved]:
    """All attributes by key, including computed ones. For display; a turn uses `resolve_attributes`."""
    values = {key: attribute.read(project) for key, attribute in COMPUTED.items()}
    computed = {key: _computed(key, value) for key, value in values.items() if value is not None}
    return {**resolve_attributes(project), **computed}


def resolve_attributes(project: Project) -> dict[str, Resolved]:
    """The stored attributes of a project by key; the project's own override the organization's. One query."""
    rows = _stored(project.pk) if is_platform() else _STORED(project.pk)
    return {row.key: _resolved(row) for row in sorted(rows, key=lambda row: row.project_id is not None)}


def _stored(project_id: UUID) -> QuerySet[Attribute]:
    return Attribute.objects.filter(Q(project=None) | Q(project_id=project_id))


_STORED = PreparedQuery(_stored, kinds=(UUID,))


def attributes_column() -> Subquery:
    """A project's attributes as a subquery column, for `read_column`; null if there are none."""
    entry = JSONObject(is_own=Q(project__isnull=False), key="key", type="type", value="value")
    rows: QuerySet[Any, Any] = (
        Attribute.objects.filter(Q(project=None) | Q(project_id=OuterRef("pk")))
        .order_by()
        .annotate(all=Value(1))
        .values("all")
    )
    entries = JSONBAgg(entry, order_by=("project_id", "key"))
    return Subquery(rows.annotate(entries=Cast(entries, TextField())).values("entries"))


@lru_cache(maxsize=512)
def read_column(text: str | None) -> Mapping[str, Resolved]:
    """The attributes in an `attributes_column`, by key. Cached, because consecutive reads usually return the same text."""
    entries = sorted(from_json(text or "[]"), key=lambda entry: entry["is_own"])
    return {
        entry["key"]: Resolved(
            key=entry["key"],
            type=AttributeType(entry["type"]),
            value=entry["value"],
            origin=Origin.PROJECT if entry["is_own"] else Origin.ORGANIZATION,
        )
        for entry in entries
    }


def set_attribute(project: Project, key: str, value: Any, *, type: AttributeType | None = None) -> Resolved:
    """Set the project's own value. Without a type the current one is kept, or inferred from the value.

    Concurrent calls are serialized per project. Raises WrongValue.
    """
    lock_project(project.pk)
    if computed := COMPUTED.get(key):
        computed.write(project, value)
        return _computed(key, computed.read(project))
    row = Attribute.objects.filter(project=project, key=key).first() or Attribute(project=project, key=key)
    _fill_typed(row, value, type=type, current=resolve_attributes(project))
    row.save()
    return _resolved(row)


def start_attributes(project: Project, values: Mapping[str, Any]) -> None:
    """Write the initial attributes of a project that has none, in bulk. Raises WrongValue."""
    for key in values.keys() & COMPUTED.keys():
        COMPUTED[key].write(project, values[key])
    current = resolve_attributes(project)
    rows = [Attribute(project=project, key=key) for key in values if key not in COMPUTED]
    for row in rows:
        _fill_typed(row, values[row.key], type=None, current=current)
    Attribute.objects.bulk_create(rows)


def _fill_typed(row: Attribute, value: Any, *, type: AttributeType | None, current: Mapping[str, Resolved]) -> None:
    """Fill a row with the given type, the current type of its key, or the one inferred from the value."""
    existing = current.get(row.key)
    row.type = type or (existing.type if existing else type_of(row.key, value))
    fill_row(row, value)


def fill_row(row: Attribute, value: Any) -> None:
    """Set the value of an unsaved row according to its type; a secret is encrypted. Raises WrongValue."""
    kind = AttributeType(row.type)
    value = checked(row.key, value, kind)
    row.value, row.secret = value, ""
    if kind is AttributeType.SECRET:
        row.value = None
        row.secret = crypto.encrypt(value, organization_id=cast(UUID, row.organization_id), field=row.key)


def unset_attribute(project: Project, key: str) -> bool:
    """Remove the project's own value. Returns False if it had none."""
    if computed := COMPUTED.get(key):
        return computed.remove(project)
    deleted, _ = Attribute.objects.filter(project=project, key=key).delete()
    return deleted > 0


def restore_attribute(row: Attribute) -> None:
    """Store a project's own value again that has just been unset. Raises Conflict if there is another one by now."""
    if Attribute.objects.filter(project=row.project, key=row.key).exists():
        raise Conflict(gettext("%(key)s has been set again since.") % {"key": row.key})
    row.save(force_insert=True)


def read_secret(project: Project, key: str) -> str | None:
    """The plain text of the project's own secret attribute, or None. Raises WrongSecret.

    An organization's secret is never read for a project, because the project chooses the server that it is sent to.
    """
    row = Attribute.objects.filter(project_id=project.pk, key=key, type=AttributeType.SECRET).first()
    return (
        crypto.decrypt(row.secret, organization_id=current_organization_id(), field=key) if row and row.secret else None
    )


def is_on(attributes: Mapping[str, Resolved], key: str) -> bool:
    """True if a boolean attribute is set to true."""
    found = attributes.get(key)
    return found is not None and found.value is True


def is_off(attributes: Mapping[str, Resolved], key: str) -> bool:
    """True if a boolean attribute is set to false; an attribute that isn't set isn't off."""
    found = attributes.get(key)
    return found is not None and found.value is False


def type_of(key: str, value: Any) -> AttributeType:
    """The type of a new attribute without a declared type."""
    if key in ALWAYS_SECRET:
        return AttributeType.SECRET
    if key in SHAPES:
        return AttributeType.JSON
    if key in ENUMS:
        return AttributeType.ENUM
    if isinstance(value, bool) or (key.endswith("_enabled") and isinstance(value, str | int)):
        return AttributeType.BOOL
    return AttributeType.STRING if isinstance(value, str) else AttributeType.JSON


def checked(key: str, value: Any, kind: AttributeType) -> Any:
    """The value to store. Raises WrongValue with the expected format."""
    if key in ALWAYS_SECRET and kind is not AttributeType.SECRET:
        raise WrongValue(
            gettext("%(key)s is a secret; its type must be %(secret)s, not %(kind)s.")
            % {"key": key, "secret": AttributeType.SECRET, "kind": kind}
        )
    if shape := SHAPES.get(key):
        return shape(value)
    if kind is AttributeType.BOOL:
        return _boolean(key, value)
    if kind is AttributeType.ENUM:
        return _choice(key, value)
    if kind is not AttributeType.JSON and not isinstance(value, str):
        raise WrongValue(gettext("%(key)s must be text, not %(value)s.") % {"key": key, "value": type_name(value)})
    return value


def type_name(value: Any) -> str:
    """The type of a JSON value, in words."""
    names = {
        bool: gettext("true or false"),
        int: gettext("a number"),
        float: gettext("a number"),
        list: gettext("a list"),
        dict: gettext("an object"),
        type(None): "null",
    }
    return names.get(type(value), gettext("text"))


def _boolean(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise WrongValue(gettext("%(key)s must be True or False, not %(value)s.") % {"key": key, "value": f"{value!r}"})


def _choice(key: str, value: Any) -> str:
    allowed = ENUMS.get(key)
    if not isinstance(value, str) or (allowed is not None and value not in allowed):
        raise WrongValue(
            gettext("%(key)s must be one of %(join)s, not %(value)s.")
            % {"key": key, "join": ", ".join(allowed or ()), "value": f"{value!r}"}
        )
    return value


def _computed(key: str, value: Any) -> Resolved:
    return Resolved(key=key, type=AttributeType.JSON, value=value, origin=Origin.PROJECT)


def _resolved(row: Attribute) -> Resolved:
    origin = Origin.PROJECT if row.project_id else Origin.ORGANIZATION
    return Resolved(key=row.key, type=AttributeType(row.type), value=row.value, origin=origin)
