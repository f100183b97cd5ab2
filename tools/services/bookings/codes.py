"""A booking's code: what a guest says on the phone to mean theirs."""

from __future__ import annotations

import secrets

# Without what sounds or looks like something else: 0 and O, 1, I and L, 5 and S, 2 and Z, 8 and B, U and V.
ALPHABET = "ACDEFGHJKMNPQRTWXY34679"
LENGTH = 6


def new_code() -> str:
    """One of 148 million, at random."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def normal_code(text: str) -> str:
    """A code as it is kept, from how a person wrote it: k7m-2qx, K7 M2 QX."""
    return "".join(letter for letter in text.upper() if letter.isalnum())[: LENGTH * 2]
