"""Customer search: by name, phone number, e-mail address or the API's identifier.

Under row-level security an index serves only leakproof comparisons: ranges of text, uuid and timestamps. Customers are
therefore matched by the prefix or suffix of an indexed field, across the tenant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet

from conversations.common.merged import listed_customers
from conversations.models import Persona
from conversations.models.persona import Strength
from projects.common.phones import normalize_phone
from projects.models import Project
from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedValues
from tools.services.bookings.search import config_of

# Customers that one search finds by each field.
MOST_CUSTOMERS = 200
FEWEST_DIGITS = 4
LAST_CHARACTER = "\U0010ffff"
# Customers by their indexed search columns.
_IN_RANGE = {
    "found_by": Prepared("""
        select persona_id from conversations_personafield
        where organization_id = %s and key = %s and found_by >= %s and found_by < %s limit %s
    """),
    "found_by_last": Prepared("""
        select persona_id from conversations_personafield
        where organization_id = %s and key = %s and found_by_last >= %s and found_by_last < %s limit %s
    """),
}
# Customers whose contact is exactly this, as the same columns hold it.
_IS_CONTACT = Prepared("""
    select persona_id from conversations_personafield
    where organization_id = %s and key = %s and found_by = %s and strength >= %s limit %s
""")


def customer_ids(project: Project, text: str) -> list[UUID]:
    """Ids of customers whose name, number, address or external id matches the text; also of the tenant's other
    projects. A merged customer's own values find the customer they were merged into.
    """
    if not text.strip():
        return []
    found = [
        id for key, column, start in _ranges(text) for id in _in_range(project, key=key, column=column, start=start)
    ]
    found += [id for (id,) in _NAMED(project.pk, text.strip())]
    return _unmerged(found)


_NAMED = PreparedValues(
    lambda project, external_id: Persona.objects.filter(project_id=project, external_id=external_id).values_list("pk"),
    kinds=(UUID, str),
)


def find_customers(project: Project, text: str) -> QuerySet[Persona]:
    """The project's customers, or those that match the text. Merged ones are left out."""
    rows = listed_customers(project.pk)
    return rows.filter(pk__in=customer_ids(project, text)) if text.strip() else rows


def customers_with(
    project: Project, *, phone: str | None = None, email: str | None = None, external_id: str | None = None
) -> QuerySet[Persona]:
    """The project's customers with all of these contacts. What a merged customer had finds who they were merged into.

    The project's region applies to a number without a country code.
    """
    return _with_contacts(project, phone, email, external_id, strength=Strength.INFERRED)


def customers_on_file(project: Project, *, phone: str | None, email: str | None) -> QuerySet[Persona]:
    """Customers with a number or address that staff or the API put on file; what a customer only said doesn't count."""
    return _with_contacts(project, phone, email, None, strength=Strength.GIVEN)


def _with_contacts(
    project: Project, phone: str | None, email: str | None, external_id: str | None, *, strength: Strength
) -> QuerySet[Persona]:
    rows = listed_customers(project.pk)
    if phone is not None:
        digits = re.sub(r"\D", "", normalize_phone(phone, region=config_of(project).region))
        rows = rows.filter(pk__in=_with_contact(project, key="phone", found_by=digits[::-1], strength=strength))
    if email is not None:
        rows = rows.filter(
            pk__in=_with_contact(project, key="email", found_by=email.strip().lower(), strength=strength)
        )
    if external_id is not None:
        named = Persona.objects.filter(project=project, external_id=external_id, erased_at=None)
        rows = rows.filter(pk__in=_unmerged(named.values_list("pk", flat=True)))
    return rows


def _with_contact(project: Project, *, key: str, found_by: str, strength: Strength) -> list[UUID]:
    if not found_by:
        return []
    rows = _IS_CONTACT(project.organization_id, key, found_by, int(strength), MOST_CUSTOMERS)
    return _unmerged(persona_id for (persona_id,) in rows)


def _unmerged(ids: Iterable[UUID]) -> list[UUID]:
    """The ids, with those of merged customers replaced."""
    found = tuple(dict.fromkeys(ids))
    targets = dict(_MERGED(found)) if found else {}
    return list(dict.fromkeys(targets.get(id) or id for id in found))


_MERGED = PreparedValues(
    lambda ids: Persona.objects.filter(pk__any=ids, merged_into__isnull=False).values_list("pk", "merged_into_id"),
    kinds=(tuple,),
)


def _ranges(text: str) -> list[tuple[str, str, str]]:
    """(field, column, prefix) triples to look up."""
    digits = re.sub(r"\D", "", text)
    if len(digits) >= FEWEST_DIGITS and not re.search(r"[^\W\d]", text):
        # Phone numbers are stored reversed and matched by their last digits; the country code may be missing or a zero.
        return [("phone", "found_by", ending[::-1]) for ending in {digits, digits.lstrip("0")} if ending]
    wanted = " ".join(text.lower().split())
    return [("name", "found_by", wanted), ("name", "found_by_last", wanted), ("email", "found_by", wanted)]


def _in_range(project: Project, *, key: str, column: str, start: str) -> list[UUID]:
    rows = _IN_RANGE[column](project.organization_id, key, start, start + LAST_CHARACTER, MOST_CUSTOMERS)
    return [id for (id,) in rows]
