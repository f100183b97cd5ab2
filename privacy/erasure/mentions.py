"""Removes a customer from rows that no column leads to, such as stored responses and regression cases.

These rows are searched for the customer's ids, numbers, addresses and full name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import timedelta
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.db import connection, connections
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from conversations.models import Attachment, Message, PersonaField
from jobs.models import ModelCall
from notices.models import Notice
from privacy.models import Erasure
from privacy.registry import BY_MODEL
from privacy.subjects import SubjectIds
from projects.models import AuditAction
from tenancy.scope import current_organization_id
from todos.models import StandingRule
from tools.models import Booking, CaseResult, Effect, KeptCase

# Shorter identifiers, such as "12", occur in too many texts.
FEWEST_CHARACTERS = 5
FEWEST_DIGITS = 7
# Responses are kept for a day.
RESPONSES_KEPT = timedelta(hours=25)
# Entries of the audit log that may name a customer. The others are about members, keys and settings.
ABOUT_CUSTOMERS = (AuditAction.CUSTOMERS_MERGED, AuditAction.CUSTOMER_EXPORTED, AuditAction.EXPORTED)

_RESPONSES = """
delete from projects_idempotentrequest r
where r.organization_id = %s and r.project_id = %s and r.created_at > now() - interval '25 hours' and exists (
    select 1 from regexp_matches(r.answer::text, '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'g') named(ids)
    where named.ids[1] = any(%s))
"""
_WORDED_RESPONSES = """
delete from projects_idempotentrequest
where organization_id = %s and project_id = %s and (lower(key) like any(%s) or lower(answer::text) like any(%s))
"""
# mg_app can't change entries of the audit log.
_AUDIT = """
update projects_auditentry set subject = 'a customer', before = '{}', after = '{}'
where organization_id = %s and action = any(%s)
  and lower(concat_ws(' ', subject, before::text, after::text)) like any(%s)
"""


def forget_responses(project_id: UUID, ids: SubjectIds, *, files: QuerySet[Attachment] | None = None) -> None:
    """Delete stored responses that contain one of the ids, or that of a recent message or file, or of one of `files`."""
    recent = Q(conversation_id__in=ids.conversations, created_at__gt=timezone.now() - RESPONSES_KEPT)
    rows = [Message.objects.filter(recent), Attachment.objects.filter(recent), *([files] if files is not None else [])]
    named = [str(pk) for pk in (*ids.named, *(pk for some in rows for pk in some.values_list("pk", flat=True)))]
    with connection.cursor() as cursor:
        cursor.execute(_RESPONSES, [current_organization_id(), project_id, named])


def identifiers_of(erasure: Erasure) -> frozenset[str]:
    """The customer's ids, `external_id`s, numbers, addresses and full names, in lower case."""
    fields = PersonaField.objects.filter(persona_id__in=erasure.personas, key__in=("phone", "email", "name"))
    values = {value for key, value in fields.values_list("key", "value") if key != "name" or " " in value.strip()}
    numbers = {digits for digits in map(_digits, contacts_of(erasure)) if len(digits) >= FEWEST_DIGITS}
    found = {*values, *numbers, *erasure.external_ids, *(str(pk) for pk in erasure.personas)}
    return frozenset(text.lower() for text in found if len(text) >= FEWEST_CHARACTERS)


def contacts_of(erasure: Erasure) -> frozenset[str]:
    """The customer's numbers and addresses as stored, and as effects name their recipients: in digits, in lower case."""
    fields = PersonaField.objects.filter(persona_id__in=erasure.personas, key__in=("phone", "email"))
    found = set(fields.values_list("key", "value"))
    recipients = {_digits(value) if key == "phone" else value.lower() for key, value in found}
    return frozenset({value for _, value in found} | recipients) - {""}


def unlinked_effects(project_id: UUID, contacts: Collection[str]) -> QuerySet[Effect]:
    """Effects that went to one of the numbers or addresses without a conversation."""
    return Effect.objects.filter(project_id=project_id, recipient__in=contacts, conversation_id=None)


def unlinked_bookings(project_id: UUID, contacts: Collection[str]) -> QuerySet[Booking]:
    """Bookings with one of the numbers or addresses that belong to no known customer."""
    theirs = Q(phone__in=contacts) | Q(email__in=contacts)
    return Booking.objects.filter(theirs, project_id=project_id, persona_id=None)


def forget_mentions(project_id: UUID, identifiers: Collection[str]) -> None:
    """Delete or rewrite the rows that contain one of the identifiers."""
    if not identifiers:
        return
    patterns = [f"%{_escaped(text)}%" for text in sorted(identifiers)]
    with connection.cursor() as cursor:
        cursor.execute(_WORDED_RESPONSES, [current_organization_id(), project_id, patterns, patterns])
    _forget_cases(project_id, identifiers)
    Notice.objects.filter(_containing(("text", "subject"), identifiers), project_id=project_id).delete()
    rules = StandingRule.objects.filter(_containing(("allowed",), identifiers), project_id=project_id)
    rules.update(ended_at=Coalesce("ended_at", Now()), allowed={})
    LogEntry.objects.filter(_containing(("object_repr", "change_message"), identifiers)).delete()
    _rewrite_audit(patterns)


def _forget_cases(project_id: UUID, identifiers: Collection[str]) -> None:
    columns = ("name", "answer", "conversation")
    cases = KeptCase.objects.filter(_containing(columns, identifiers), project_id=project_id)
    results = list(CaseResult.objects.filter(case__in=cases).values_list("pk", flat=True))
    ModelCall.objects.filter(turn_id__isnull=True, subject_id__in=results).update(**BY_MODEL[ModelCall].emptied)
    cases.delete()


def _rewrite_audit(patterns: list[str]) -> None:
    with connections["ops"].cursor() as cursor:
        cursor.execute(_AUDIT, [current_organization_id(), list(ABOUT_CUSTOMERS), patterns])


def _containing(columns: Iterable[str], identifiers: Collection[str]) -> Q:
    condition = Q(pk__in=[])
    for column in columns:
        for text in identifiers:
            condition |= Q(**{f"{column}__icontains": text})
    return condition


def _digits(text: str) -> str:
    """The digits of a phone number; of another text, none."""
    return re.sub(r"\D", "", text) if text.startswith("+") else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
