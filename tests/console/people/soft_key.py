"""A software passkey that can also give answers no browser would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

FLAG = AuthenticatorData.FLAG
Answer = dict[str, Any]


@dataclass
class SoftKey:
    """A passkey whose flags and counters the test controls."""

    origin: str = "http://localhost:8000"
    # User verification flag.
    is_sure: bool = True
    # Sign count.
    count: int = 0
    id: bytes = b"soft-key-of-a-test"
    owner: str = ""
    secret: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def make(self, options: Mapping[str, Any]) -> Answer:
        """Answer a registration challenge."""
        asked = options["publicKey"]
        self.owner = asked["user"]["id"]
        public = ES256.from_cryptography_key(self.secret.public_key())
        credential = AttestedCredentialData.create(Aaguid.NONE, self.id, public)
        data = AuthenticatorData.create(
            sha256(asked["rp"]["id"].encode()), self._flags | FLAG.AT, self.count, credential
        )
        said = CollectedClientData.create("webauthn.create", asked["challenge"], self.origin)
        made = AttestationObject.create("none", data, {})
        return self._sent({"clientDataJSON": said, "attestationObject": made})

    def use(self, options: Mapping[str, Any]) -> Answer:
        """Answer an authentication challenge."""
        asked = options["publicKey"]
        said = CollectedClientData.create("webauthn.get", asked["challenge"], self.origin)
        self.count += 1
        data = AuthenticatorData.create(sha256(asked["rpId"].encode()), self._flags, self.count)
        signature = self.secret.sign(data + said.hash, ec.ECDSA(hashes.SHA256()))
        handle = websafe_decode(self.owner)
        return self._sent(
            {"clientDataJSON": said, "authenticatorData": data, "signature": signature, "userHandle": handle}
        )

    @property
    def _flags(self) -> AuthenticatorData.FLAG:
        return FLAG.UP | FLAG.UV if self.is_sure else FLAG.UP

    def _sent(self, response: Mapping[str, bytes]) -> Answer:
        encoded = {name: websafe_encode(value) for name, value in response.items()}
        key = websafe_encode(self.id)
        return {"id": key, "rawId": key, "type": "public-key", "response": encoded, "clientExtensionResults": {}}


def sent(answer: object, **fields: str) -> dict[str, str]:
    """The form fields of an answer."""
    return {"credential": answer if isinstance(answer, str) else json.dumps(answer), **fields}
