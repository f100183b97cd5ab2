"""The installation's identity toward push services (VAPID, RFC 8292).

Its key is derived from SECRET_KEY, so that every process has it and none stores it. A browser accepts messages only with
the key that it subscribed with. Another SECRET_KEY signs everybody out, and their browsers subscribe again when a page
opens there.
"""

from __future__ import annotations

import base64
import time
from email.utils import parseaddr
from functools import cache

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from notices.push.encryption import CURVE, encoded
from outbound.target import parse_target

INFO = b"makegood web push"
# 48 bytes leave no bias in a number below the curve's order (FIPS 186-5, A.2.1).
DERIVED_BYTES = 48
# RFC 8292 allows a day.
LIFETIME_SECONDS = 12 * 3600


def public_key() -> str:
    """The `applicationServerKey` of browsers, as unpadded base64url."""
    return base64url(encoded(_private_key(settings.SECRET_KEY).public_key()))


def authorization(endpoint: str) -> str:
    """The Authorization header of a message to a push service. Raises BlockedAddress."""
    claims = {"aud": _origin(endpoint), "exp": int(time.time()) + LIFETIME_SECONDS, "sub": _contact()}
    token = jwt.encode(claims, _private_key(settings.SECRET_KEY), algorithm="ES256")
    return f"vapid t={token}, k={public_key()}"


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@cache
def _private_key(secret_key: str) -> ec.EllipticCurvePrivateKey:
    seed = HKDF(hashes.SHA256(), DERIVED_BYTES, None, INFO).derive(secret_key.encode())
    return ec.derive_private_key(int.from_bytes(seed) % (CURVE.group_order - 1) + 1, CURVE)


def _origin(endpoint: str) -> str:
    target = parse_target(endpoint)
    return target.url.removesuffix(target.path)


def _contact() -> str:
    """The operator, for the push service to write to."""
    return settings.BASE_URL if settings.IS_HTTPS else f"mailto:{parseaddr(settings.DEFAULT_FROM_EMAIL)[1]}"
