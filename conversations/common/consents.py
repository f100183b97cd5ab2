"""Reads of customers' consents: the refusals of a recipient, and a customer's history."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import get_args
from uuid import UUID

from conversations.common.merged import with_absorbed
from conversations.common.prompt_shapes import Fact
from conversations.models import ConsentChange, PersonaField
from tenancy.prepared_queries import PreparedQuery
from tools.engine.execution.consent import CONSENT_WORDS
from tools.engine.execution.handler import Consent

OPT_IN = "_opt_in"
OPT_INS = ("sms_opt_in", "email_opt_in", "call_opt_in", "recording_opt_in")
GIVEN, WITHDRAWN = "true", "false"
CONSENTS: Sequence[Consent] = get_args(Consent)
MAX_HISTORY = 100
UNWANTED, WANTED = "the customer doesn't want any; never offer or promise one", "the customer agreed to them"


def consent_of(opt_in: str) -> str:
    """The consent recorded by a field: `sms` for `sms_opt_in`."""
    return opt_in.removesuffix(OPT_IN)


def consent_fact(fact: Fact) -> Fact:
    """The fact in words if it is a consent, for the agent to offer nothing that the customer has refused."""
    if fact.field not in OPT_INS:
        return fact
    words = {WITHDRAWN: UNWANTED, GIVEN: WANTED}.get(fact.value, fact.value)
    return replace(fact, field=CONSENT_WORDS[consent_of(fact.field)], value=words)


def is_withdrawn_at(project_id: UUID, consent: Consent, recipients: Collection[str]) -> bool:
    """True if the newest change of this consent at one of the recipients withdrew it."""
    return any(kind == consent for kind, _ in withdrawn_at([project_id], recipients, kinds=[consent]))


def withdrawn_at(
    project_ids: Collection[UUID], recipients: Collection[str], *, kinds: Collection[str] = CONSENTS
) -> set[tuple[str, str]]:
    """The kinds that are withdrawn, each with its recipient, in one query."""
    changes = ConsentChange.objects.filter(project_id__in=project_ids, kind__in=kinds, recipient__in=recipients)
    newest = changes.order_by("kind", "recipient", "-created_at", "-id").distinct("kind", "recipient")
    rows = newest.values_list("kind", "recipient", "is_given")
    return {(kind, recipient) for kind, recipient, is_given in rows if not is_given}


def is_withdrawn(persona_id: UUID, opt_in: str) -> bool:
    """True if the customer's field says that they don't want it."""
    return PersonaField.objects.filter(persona_id=persona_id, key=opt_in, value=WITHDRAWN).exists()


def consent_history(persona_id: UUID) -> list[ConsentChange]:
    """The newest changes of the customer and of those merged into them, newest first."""
    return _HISTORY(persona_id)


_HISTORY = PreparedQuery(
    lambda persona: ConsentChange.objects.filter(with_absorbed(persona)).order_by("-created_at", "-id")[:MAX_HISTORY],
    kinds=(UUID,),
)
