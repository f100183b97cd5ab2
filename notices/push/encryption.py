"""Encryption of push messages for one browser (RFC 8291), in the content coding aes128gcm (RFC 8188)."""

from __future__ import annotations

import os

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

CURVE = ec.SECP256R1()
AUTH_BYTES = 16
SALT_BYTES = 16
RECORD_BYTES = 4096
# The longest content of a record of 4096 bytes, with the header of RFC 8188.
LONGEST_CONTENT = 3993
# Marks the end of the last record; padding follows it.
LAST_RECORD = b"\x02"


def encrypt(
    content: bytes,
    *,
    p256dh: bytes,
    auth: bytes,
    padded_to: int = 0,
    private_key: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
) -> bytes:
    """The body of a push message that only the browser with the keys `p256dh` and `auth` can read.

    With `padded_to`, shorter contents have the same length as one of so many bytes. `private_key` and `salt` are random
    unless a test gives them. Raises ValueError for a key that is no point on the curve and for too long a content.
    """
    if max(len(content), padded_to) > LONGEST_CONTENT:
        raise ValueError(f"A push message holds at most {LONGEST_CONTENT} bytes.")
    sender, salt = private_key or ec.generate_private_key(CURVE), salt or os.urandom(SALT_BYTES)
    receiver = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, p256dh)
    public = encoded(sender.public_key())
    shared = sender.exchange(ec.ECDH(), receiver)
    secret = _derived(shared, salt=auth, info=b"WebPush: info\x00" + p256dh + public, length=32)
    key = _derived(secret, salt=salt, info=b"Content-Encoding: aes128gcm\x00", length=16)
    nonce = _derived(secret, salt=salt, info=b"Content-Encoding: nonce\x00", length=12)
    record = content + LAST_RECORD + bytes(max(0, padded_to - len(content)))
    header = salt + RECORD_BYTES.to_bytes(4) + bytes([len(public)]) + public
    return header + AESGCM(key).encrypt(nonce, record, None)


def check_public_key(p256dh: bytes) -> None:
    """Raise ValueError for a key that is no point on the curve."""
    ec.EllipticCurvePublicKey.from_encoded_point(CURVE, p256dh)


def encoded(key: ec.EllipticCurvePublicKey) -> bytes:
    """A public key as an uncompressed point of 65 bytes, as browsers exchange it."""
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _derived(secret: bytes, *, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)
