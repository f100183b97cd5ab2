"""Secrets at rest are bound to tenant and field, and support key rotation."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from cryptography.fernet import Fernet

from projects.common.crypto import WrongSecret, decrypt, encrypt

OURS, THEIRS = UUID(int=1), UUID(int=2)


def test_a_secret_decrypts_only_for_its_tenant_and_field() -> None:
    sealed = encrypt("s3cret", organization_id=OURS, field="key")
    assert "s3cret" not in sealed
    assert decrypt(sealed, organization_id=OURS, field="key") == "s3cret"
    for organization_id, field in ((THEIRS, "key"), (OURS, "other")):
        with pytest.raises(WrongSecret):
            decrypt(sealed, organization_id=organization_id, field=field)


def test_a_rotated_key_list_decrypts_older_secrets(settings: Any) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [old]
    sealed = encrypt("s3cret", organization_id=OURS, field="key")
    settings.ENCRYPTION_KEYS = [new, old]
    assert decrypt(sealed, organization_id=OURS, field="key") == "s3cret"
    settings.ENCRYPTION_KEYS = [new]
    with pytest.raises(WrongSecret):
        decrypt(sealed, organization_id=OURS, field="key")


@pytest.mark.parametrize("sealed", ["", "gAAAA", "no ciphertext"])
def test_plain_text_is_told_apart_from_ciphertext(sealed: str) -> None:
    with pytest.raises(WrongSecret):
        decrypt(sealed, organization_id=OURS, field="key")
