"""Proof that a mail server's report is about an e-mail of ours: a header that only the e-mail itself has.

Everyone in a thread knows the Message-ID. The header is in no reply, and a server that gives an e-mail back returns it
with the others (RFC 3462).
"""

from __future__ import annotations

import hmac

from django.utils.crypto import salted_hmac

PROOF_HEADER = "X-Makegood-Proof"
_SALT = "makegood.bounce"


def bounce_proof(key: str) -> str:
    """The header's value in the e-mail of an effect."""
    return salted_hmac(_SALT, key, algorithm="sha256").hexdigest()[:40]


def is_proof(given: str, key: str) -> bool:
    return hmac.compare_digest(given.encode(), bounce_proof(key).encode())
