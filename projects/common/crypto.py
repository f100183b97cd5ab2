"""Encryption of secrets at rest, bound to their tenant and field."""

from __future__ import annotations

import json
from uuid import UUID

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class WrongSecret(ValueError):
    """This secret can't be decrypted. It was encrypted with another key, or for another tenant or field."""


def encrypt(secret: str, *, organization_id: UUID, field: str) -> str:
    """Encrypt a secret. The ciphertext can be decrypted only for the same tenant and field."""
    return _keys().encrypt(json.dumps([str(organization_id), field, secret]).encode()).decode()


def decrypt(ciphertext: str, *, organization_id: UUID, field: str) -> str:
    """Decrypt a secret. Raises WrongSecret."""
    try:
        owner, bound_field, secret = json.loads(_keys().decrypt(ciphertext.encode()))
    except (InvalidToken, ValueError) as error:
        raise WrongSecret(WrongSecret.__doc__) from error
    if (owner, bound_field) != (str(organization_id), field):
        raise WrongSecret(WrongSecret.__doc__)
    return str(secret)


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key.strip()) for key in settings.ENCRYPTION_KEYS])
