"""The offer to translate a conversation, if its customer writes another language than the member reads."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.translation import get_language, get_language_from_request

from conversations.assist.translation import customer_language_code
from conversations.common.field_labels import language_name
from conversations.models import Conversation

# Languages that write the names of languages with a capital.
CAPITALIZED = ("en", "de")


@dataclass(frozen=True)
class TranslationOffer:
    """The languages of both sides. `staff` is a code, `customer` a name inside a sentence."""

    staff: str
    customer: str


def translation_offer(request: HttpRequest, row: Conversation) -> TranslationOffer | None:
    """The offer, or None if both sides read the same language or the customer's isn't known."""
    customer, staff = customer_language_code(row), get_language_from_request(request).split("-")[0]
    if not customer or customer == staff:
        return None
    name = language_name(customer)
    return TranslationOffer(staff, name if get_language() in CAPITALIZED else name[:1].lower() + name[1:])
