"""The declarations of personal data, as the page about what is stored where shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as lazy

from privacy.registry import TABLES
from privacy.retention.policy import Policy
from tenancy.personal_data import Fate, Kept, TableContents

FATES: Mapping[Fate, Any] = {
    Fate.DELETED: lazy("Deleted"),
    Fate.EMPTIED: lazy("Kept, anonymized"),
    Fate.SEARCHED: lazy("Searched for this person, then deleted or redacted"),
    Fate.NONE: lazy("Nothing about customers"),
}


@dataclass(frozen=True)
class StoredTable:
    """One table in words. `holds` says whose data it has."""

    about: str
    table: str
    holds: str
    kept: str
    erasure: str


@dataclass(frozen=True)
class StoredGroup:
    title: str
    rows: list[StoredTable]


def stored_tables(policy: Policy) -> list[StoredGroup]:
    """Every table of the organization: those about customers first."""
    about = [_row(contents, policy) for contents in TABLES if contents.fate is not Fate.NONE]
    others = [_row(contents, policy) for contents in TABLES if contents.fate is Fate.NONE]
    return [
        StoredGroup(gettext("About your customers"), about),
        StoredGroup(gettext("About your business and your team"), others),
    ]


def _row(contents: TableContents, policy: Policy) -> StoredTable:
    return StoredTable(
        about=gettext(contents.about),
        table=contents.table,
        holds=_holds(contents),
        kept=_kept(contents.kept, policy),
        erasure=str(FATES[contents.fate]),
    )


def _holds(contents: TableContents) -> str:
    if contents.customer and contents.staff:
        return gettext("Customers, team")
    if contents.customer or contents.links:
        return gettext("Customers")
    if contents.staff:
        return gettext("Team")
    return gettext("Encrypted secrets") if contents.secret else gettext("Your business")


def _kept(kind: Kept | None, policy: Policy) -> str:
    days = policy.days[kind] if kind else None
    return gettext("{days} days").format(days=days) if days else gettext("Until it is deleted")
