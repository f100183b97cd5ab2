"""One-time codes: issue, store as a hash, compare.

Six digits have a million values. Guessing is prevented by limits: a code lives ten minutes and takes five tries, and a
customer gets three codes in ten minutes and a limited number a day. All are counted under a lock.
"""

from __future__ import annotations

import secrets
import unicodedata
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.utils.crypto import constant_time_compare, salted_hmac

from projects.models import Project
from tools.engine.policy import policy_of
from tools.models import VerificationCode

DIGITS = 6
MOST_TRIES = 5
VALID = timedelta(minutes=10)
MOST_CODES, WITHIN = 3, timedelta(minutes=10)
DAY = timedelta(days=1)
KIND = "verification_code"

_SALT = "tools.verification.code"
_ONE_AT_A_TIME = "select pg_advisory_xact_lock(hashtextextended(%s, 0))"


class TooManyCodes(Exception):
    """The customer has received three codes within ten minutes and must wait."""


class TooManyCodesToday(TooManyCodes):
    """The customer has received as many codes as one may get in a day."""


class Verdict(Enum):
    """The result of comparing a code."""

    RIGHT = "right"
    WRONG = "wrong"
    OVER = "over"


@dataclass(frozen=True)
class CodeHolder:
    """The customer a code is for, in the conversation that requested it."""

    project: Project
    persona_id: UUID
    conversation_id: UUID


@dataclass(frozen=True)
class Comparison:
    """The result of one try. `tries_left` belongs to the compared code."""

    verdict: Verdict
    tries_left: int = 0


@dataclass(frozen=True)
class NewCode:
    """A code to send. Its digits exist only in memory."""

    row_id: UUID
    digits: str


def issue_code(holder: CodeHolder, *, sent_by: str, effect_id: UUID) -> NewCode:
    """Issue a code in the current transaction, and expire the customer's earlier ones. `sent_by` is sms or email.

    Concurrent calls for one customer are serialized. Raises TooManyCodes, or TooManyCodesToday.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ONE_AT_A_TIME, [f"{_SALT}:{holder.persona_id}"])
    codes = VerificationCode.objects.filter(project=holder.project, persona_id=holder.persona_id)
    if codes.filter(created_at__gt=Now() - WITHIN).count() >= MOST_CODES:
        raise TooManyCodes(TooManyCodes.__doc__)
    if codes.filter(created_at__gt=Now() - DAY).count() >= policy_of(KIND).max_per_recipient:
        raise TooManyCodesToday(TooManyCodesToday.__doc__)
    codes.filter(expires_at__gt=Now()).update(expires_at=Now())
    digits = f"{secrets.randbelow(10**DIGITS):0{DIGITS}d}"
    row = VerificationCode(
        project=holder.project,
        persona_id=holder.persona_id,
        conversation_id=holder.conversation_id,
        effect_id=effect_id,
        sent_by=sent_by,
        expires_at=Now() + VALID,
    )
    row.digest = digest_of(row.pk, digits)
    row.save(force_insert=True)
    return NewCode(row.pk, digits)


def expire_code(row_id: UUID) -> None:
    """Expire a code that was not sent."""
    VerificationCode.objects.filter(pk=row_id, expires_at__gt=Now()).update(expires_at=Now())


def compare_code(holder: CodeHolder, typed: str) -> Comparison:
    """Compare the input with the customer's newest code of this conversation, in the current transaction.

    Every comparison counts as a try. The row's lock serializes concurrent guesses. A correct code is used up.
    """
    codes = VerificationCode.objects.filter(
        project=holder.project, persona_id=holder.persona_id, conversation_id=holder.conversation_id
    )
    row = codes.select_for_update(no_key=True).order_by("-created_at", "-id").first()
    if row is None or not codes.filter(pk=row.pk, expires_at__gt=Now(), used_at=None, tries__lt=MOST_TRIES).exists():
        return Comparison(Verdict.OVER)
    if constant_time_compare(row.digest, digest_of(row.pk, digits_of(typed))):
        codes.filter(pk=row.pk).update(tries=F("tries") + 1, used_at=Now())
        return Comparison(Verdict.RIGHT)
    codes.filter(pk=row.pk).update(tries=F("tries") + 1)
    return Comparison(Verdict.WRONG, tries_left=MOST_TRIES - row.tries - 1)


def digest_of(row_id: UUID, digits: str) -> str:
    """Hash a code with the server's key, because a million values are quickly tried, and for its own row only."""
    return salted_hmac(_SALT, f"{row_id}:{digits}", algorithm="sha256").hexdigest()


def digits_of(typed: str) -> str:
    """Return the digits of the input, from any script and with any separators."""
    found = (unicodedata.decimal(character, None) for character in typed)
    return "".join(str(digit) for digit in found if digit is not None)
