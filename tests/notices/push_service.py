"""A push service and browsers: a real HTTP server takes the messages, and a browser decrypts them with its private key.

The decryption follows RFC 8291 and RFC 8188 from the receiver's side, with code of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.conversations.effects.target import Heard, Target

CURVE = ec.SECP256R1()


def bytes_of(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def text_of(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def key_of(number: str) -> ec.EllipticCurvePrivateKey:
    """A private key from its number in base64url, as the RFCs print them."""
    return ec.derive_private_key(int.from_bytes(bytes_of(number)), CURVE)


@dataclass
class PlayedBrowser:
    """A browser that has subscribed. Only it can read what is sent to it."""

    endpoint: str
    private_key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(CURVE))
    auth: bytes = field(default_factory=lambda: os.urandom(16))

    @property
    def public(self) -> bytes:
        return self.private_key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def posted(self) -> dict[str, str]:
        """The subscription, as its page posts it to the server."""
        return {"endpoint": self.endpoint, "p256dh": text_of(self.public), "auth": text_of(self.auth)}

    def read(self, body: bytes) -> bytes:
        """The content of a message. Raises InvalidTag if it is for another browser."""
        salt, length = body[:16], body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= int.from_bytes(body[16:20])
        shared = self.private_key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, sender))
        secret = hkdf(self.auth, shared, b"WebPush: info\0" + self.public + sender, 32)
        key = hkdf(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = hkdf(salt, secret, b"Content-Encoding: nonce\0", 12)
        content = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
        assert content[-1] == 2
        return content[:-1]

    def shown(self, server: Target) -> list[dict[str, Any]]:
        """The messages that the service got for this browser, in order."""
        return [json.loads(self.read(heard.body)) for heard in server.log if self.endpoint.endswith(heard.path)]


def claims_of(heard: Heard, *, audience: str) -> dict[str, Any]:
    """The claims of a request's VAPID token, verified with the key beside it (RFC 8292)."""
    scheme, _, parameters = heard.headers["authorization"].partition(" ")
    values = dict(part.strip().split("=", 1) for part in parameters.split(","))
    key = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, bytes_of(values["k"]))
    assert scheme == "vapid"
    return dict(jwt.decode(values["t"], key, algorithms=["ES256"], audience=audience), k=values["k"])


def hkdf(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    """HKDF with SHA-256 for at most 32 bytes (RFC 5869)."""
    extracted = hmac.digest(salt, secret, hashlib.sha256)
    return hmac.digest(extracted, info + b"\x01", hashlib.sha256)[:length]
