"""Limits of a whole organization: the operator sets the highest, and owners may set lower ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings

from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id

_SET = Prepared("""
select "limit", most, false from tools_organizationlimit where organization_id = %s
union all select "limit", most, true from tools_operatorlimit where organization_id = %s
""")


class SetBy(StrEnum):
    """The one who has set a limit."""

    DEFAULT = "default"
    PROJECT = "project"
    ORGANIZATION = "organization"
    OPERATOR = "operator"


@dataclass(frozen=True)
class Ceiling:
    """A limit, and the one who has set it."""

    most: int
    set_by: SetBy


@dataclass(frozen=True)
class OrganizationLimits:
    """The limits of an organization by who has set them."""

    by_owner: Mapping[str, int]
    by_operator: Mapping[str, int]

    def find(self, limit: str) -> Ceiling | None:
        """The lower one of both, or None. The operator's comes first, because an owner can't raise it."""
        known = [
            Ceiling(mosts[limit], set_by)
            for mosts, set_by in ((self.by_operator, SetBy.OPERATOR), (self.by_owner, SetBy.ORGANIZATION))
            if limit in mosts
        ]
        return min(known, key=lambda ceiling: ceiling.most, default=None)

    def __iter__(self) -> Iterator[str]:
        """The limits that are set."""
        return iter({**self.by_operator, **self.by_owner})


def read_organization_limits() -> OrganizationLimits:
    """The limits of the current organization. The installation's hold where the operator has set none for it."""
    rows = _SET(current_organization_id(), current_organization_id())
    by_operator = {limit: most for limit, most, is_operators in rows if is_operators}
    by_owner = {limit: most for limit, most, is_operators in rows if not is_operators}
    return OrganizationLimits(by_owner, {**settings.ORGANIZATION_LIMITS, **by_operator})
