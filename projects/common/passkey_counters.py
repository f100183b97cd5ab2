"""Signature counters of passkeys. A counter that doesn't grow indicates a cloned key (WebAuthn, section 6.1.1)."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db import transaction

# The key of our counter in the data that allauth stores for a passkey.
COUNTER = "sign_count"


def advance_counter(factor: Authenticator, count: int) -> bool:
    """Store the counter of a verified use. Returns False and stores nothing if the counter has not grown.

    Authenticators without a counter always report 0, which is accepted. Concurrent uses are serialized. Raises
    Authenticator.DoesNotExist if the passkey was removed in the meantime.
    """
    with transaction.atomic():
        kept = Authenticator.objects.select_for_update().get(pk=factor.pk)
        before = kept.data.get(COUNTER, kept.wrap().authenticator_data.counter)
        if count <= before and (count or before):
            return False
        kept.data[COUNTER] = count
        kept.save(update_fields=["data"])
    return True
