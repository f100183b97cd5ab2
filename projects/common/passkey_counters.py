"""The count of its uses that a key keeps and signs. One that doesn't grow is the sign of a copy (WebAuthn, section 6.1.1)."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db import transaction

# Beside what allauth keeps of a passkey.
COUNT = "sign_count"


def take_count(factor: Authenticator, count: int) -> bool:
    """Keep the count of a use whose signature is right. False, and nothing kept, where a copy has counted as far or further.

    A key that doesn't count says 0 each time. Of two uses at once the second is held against the first.
    Raises Authenticator.DoesNotExist when the passkey was removed meanwhile.
    """
    with transaction.atomic():
        kept = Authenticator.objects.select_for_update().get(pk=factor.pk)
        before = kept.data.get(COUNT, kept.wrap().authenticator_data.counter)
        if count <= before and (count or before):
            return False
        kept.data[COUNT] = count
        kept.save(update_fields=["data"])
    return True
