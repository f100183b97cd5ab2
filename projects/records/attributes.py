"""Typed attributes: read with their origin, written with their type checked (D3, D4)."""

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
from pydantic_core import from_json

from projects.common import crypto
from projects.models.attribute import Attribute, AttributeType
from projects.models.organization import Project
from tenancy.scope import current_organization_id

GATES = "project_attributes_setting_"
ENUMS: Mapping[str, tuple[str, ...]] = {
    "project_attributes_setting_booking_cancellation_type": ("endpoint", "project", "manual"),
    "project_attributes_setting_calendar_event_integration": ("none", "google_integration", "caldav_integration"),
}
TRUE, FALSE = {"true", "1"}, {"false", "0"}
MODEL_KEY = "model_api_key"
# Kept as a secret and as nothing else: as a text it would be shown to everyone, and the organization's be read in its place.
ALWAYS_SECRET = frozenset({MODEL_KEY})


class Origin(StrEnum):
    """Whose row a value comes from."""

    PROJECT = "project"
    ORGANIZATION = "organization"


class WrongValue(ValueError):
    """The value doesn't fit the attribute's type."""


@dataclass(frozen=True)
class Resolved:
    """An attribute as a project sees it. A secret's value is None here; `read_secret` opens it."""

    key: str
    type: AttributeType
    value: Any
    origin: Origin


class ComputedAttribute(Protocol):
    """An attribute that is no row of its own: it reads and writes the rows of another model, always the project's."""

    def read(self, project: Project) -> Any | None:
        """The value as JSON; None where there is none."""

    def write(self, project: Project, value: Any) -> None:
        """Make the rows what the value says. Raises WrongValue or ApiError, and then has changed nothing."""

    def remove(self, project: Project) -> bool:
        """Take the rows away. False when there were none."""


# Filled by the apps whose rows these are, when they are ready.
COMPUTED: dict[str, ComputedAttribute] = {}

# How the value of a key has to look, by the apps that read it: returns it as it is kept, or raises WrongValue.
SHAPES: dict[str, Callable[[Any], Any]] = {}


def every_attribute(project: Project) -> dict[str, Resolved]:
    """All attributes by key, the computed ones among them: for whoever shows them. A turn reads resolve_attributes."""
    values = {key: attribute.read(project) for key, attribute in COMPUTED.items()}
    computed = {key: _computed(key, value) for key, value in values.items() if value is not None}
    return {**resolve_attributes(project), **computed}


def resolve_attributes(project: Project) -> dict[str, Resolved]:
    """All attributes of a project by key; the project's own win over the organization's. One query."""
    rows = Attribute.objects.filter(Q(project=None) | Q(project_id=project.pk))
    return {row.key: _resolved(row) for row in sorted(rows, key=lambda row: row.project_id is not None)}


def attributes_column() -> Subquery:
    """A project's attributes as one column beside it, for `read_column`: None where there are none."""
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
    """The attributes of an `attributes_column`, by key. Most readings find what the one before found, and get the same mapping."""
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
    """Write the project's own value. Without a type the standing one holds, or it is read off the value. Two at once follow
    each other. Raises WrongValue.
    """
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if computed := COMPUTED.get(key):
        computed.write(project, value)
        return _computed(key, computed.read(project))
    row = Attribute.objects.filter(project=project, key=key).first() or Attribute(project=project, key=key)
    _write(row, value, type=type, standing=resolve_attributes(project))
    row.save()
    return _resolved(row)


def start_attributes(project: Project, values: Mapping[str, Any]) -> None:
    """Write the first values of a project that has none of its own yet, at once. Raises WrongValue."""
    for key in values.keys() & COMPUTED.keys():
        COMPUTED[key].write(project, values[key])
    standing = resolve_attributes(project)
    rows = [Attribute(project=project, key=key) for key in values if key not in COMPUTED]
    for row in rows:
        _write(row, values[row.key], type=None, standing=standing)
    Attribute.objects.bulk_create(rows)


def _write(row: Attribute, value: Any, *, type: AttributeType | None, standing: Mapping[str, Resolved]) -> None:
    """Fill a row with the type that was named, that stands for its key, or that is read off the value."""
    stands = standing.get(row.key)
    row.type = type or (stands.type if stands else type_of(row.key, value))
    fill(row, value)


def fill(row: Attribute, value: Any) -> None:
    """Put a value into a row that is saved afterwards, as its type says; a secret is encrypted. Raises WrongValue."""
    kind = AttributeType(row.type)
    value = checked(row.key, value, kind)
    row.value, row.secret = value, ""
    if kind is AttributeType.SECRET:
        row.value = None
        row.secret = crypto.encrypt(value, organization_id=cast(UUID, row.organization_id), field=row.key)


def unset_attribute(project: Project, key: str) -> bool:
    """Remove the project's own value. False when it had none."""
    if computed := COMPUTED.get(key):
        return computed.remove(project)
    deleted, _ = Attribute.objects.filter(project=project, key=key).delete()
    return deleted > 0


def read_secret(project: Project, key: str) -> str | None:
    """The plain text of a secret attribute, the project's own first."""
    rows = Attribute.objects.filter(Q(project=None) | Q(project_id=project.pk), key=key, type=AttributeType.SECRET)
    row = max(rows, key=lambda candidate: candidate.project_id is not None, default=None)
    return (
        crypto.decrypt(row.secret, organization_id=current_organization_id(), field=key) if row and row.secret else None
    )


def is_on(attributes: Mapping[str, Resolved], key: str) -> bool:
    """Whether a boolean attribute is true; an absent one is false."""
    found = attributes.get(key)
    return found is not None and found.value is True


def type_of(key: str, value: Any) -> AttributeType:
    """The type a new attribute gets when the caller names none."""
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
    """The value as stored. Raises WrongValue with what would be right."""
    if key in ALWAYS_SECRET and kind is not AttributeType.SECRET:
        raise WrongValue(f"{key} is a secret; its type must be {AttributeType.SECRET}, not {kind}.")
    if shape := SHAPES.get(key):
        return shape(value)
    if kind is AttributeType.BOOL:
        return _boolean(key, value)
    if kind is AttributeType.ENUM:
        return _choice(key, value)
    if kind is not AttributeType.JSON and not isinstance(value, str):
        raise WrongValue(f"{key} must be text, not {type_name(value)}.")
    return value


def type_name(value: Any) -> str:
    """A JSON value's type in plain words."""
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return names.get(type(value), "text")


def _boolean(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise WrongValue(f"{key} must be True or False, not {value!r}.")


def _choice(key: str, value: Any) -> str:
    allowed = ENUMS.get(key)
    if not isinstance(value, str) or (allowed is not None and value not in allowed):
        raise WrongValue(f"{key} must be one of {', '.join(allowed or ())}, not {value!r}.")
    return value


def _computed(key: str, value: Any) -> Resolved:
    return Resolved(key=key, type=AttributeType.JSON, value=value, origin=Origin.PROJECT)


def _resolved(row: Attribute) -> Resolved:
    origin = Origin.PROJECT if row.project_id else Origin.ORGANIZATION
    return Resolved(key=row.key, type=AttributeType(row.type), value=row.value, origin=origin)
