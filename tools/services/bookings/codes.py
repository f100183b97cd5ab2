"""Booking codes, which guests read out on the phone."""

from __future__ import annotations

import secrets

# No characters that sound or look alike: 0/O, 1/I/L, 5/S, 2/Z, 8/B, U/V.
ALPHABET = "ACDEFGHJKMNPQRTWXY34679"
LENGTH = 6


def new_code() -> str:
    """Return a random code, one of 148 million."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def normal_code(text: str) -> str:
    """Normalize a code as people write it: k7m-2qx, K7 M2 QX."""
    return "".join(letter for letter in text.upper() if letter.isalnum())[: LENGTH * 2]
