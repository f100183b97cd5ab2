"""Declarations of what the tables of tenants hold about people.

Each app declares its tables in `personal_data.py` beside its models: every text, JSON and binary column belongs to one of
four groups. A test compares the declarations with the database's catalog, so a new column can't be forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from django.db import models
from django.utils.translation import override


class Fate(StrEnum):
    """The fate of a customer's rows in a table when the customer is erased."""

    DELETED = "deleted"
    """The rows are deleted."""
    EMPTIED = "emptied"
    """The rows stay as proof or as a figure. Nothing in them leads to the customer."""
    SEARCHED = "searched"
    """No column leads to the customer. Rows that contain one of their ids or addresses are deleted or rewritten."""
    NONE = "none"
    """The table holds nothing about customers."""


class Kept(StrEnum):
    """Kinds of records that each project keeps as long as it likes (`privacy.retention`)."""

    TRANSCRIPTS = "transcripts"
    ARCHIVE = "archive"
    """Transcripts as rows of their own, which are moved into the archive when they are older."""
    EVENTS = "events"
    PROMPTS = "prompts"
    EFFECTS = "effects"
    JOBS = "jobs"


class Subject(StrEnum):
    """The ids that a link of a table refers to."""

    PERSONA = "personas"
    CONVERSATION = "conversations"
    TODO = "todos"
    TICKET = "tickets"
    BOOKING = "bookings"
    EFFECT = "effects"
    CALL = "model_calls"


@dataclass(frozen=True)
class TableContents:
    """The contents of one table, and what happens to them when a customer is erased.

    `about` says in a few words what the table holds. `customer`, `staff`, `secret` and `other` divide its columns:
    personal data of customers, names of the business's own people, secrets that no export contains, and the rest.

    `links` are the lookups by which rows belong to a customer; one of them is enough. `emptied` gives the values that the
    columns of an emptied row get. `kept` is the kind of record, if the project decides how long rows are kept.
    """

    model: type[models.Model]
    about: str
    fate: Fate = Fate.NONE
    kept: Kept | None = None
    customer: tuple[str, ...] = ()
    staff: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    other: tuple[str, ...] = ()
    links: Mapping[str, Subject] = field(default_factory=dict)
    emptied: Mapping[str, Any] = field(default_factory=dict)

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def name(self) -> str:
        """The table's name in an export, such as `messages`, in English for every reader."""
        with override(None):
            return str(self.model._meta.verbose_name_plural).replace(" ", "_").lower()

    @property
    def declared(self) -> tuple[str, ...]:
        """All declared columns."""
        return (*self.customer, *self.staff, *self.secret, *self.other)
