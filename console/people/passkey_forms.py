"""Forms that validate a browser's WebAuthn answer before allauth does.

allauth assumes a well-formed answer, but anyone can post anything, even without being signed in.
"""

from __future__ import annotations

import json
import struct
from typing import Any
from urllib.parse import urlsplit

from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn import forms as allauth_forms
from allauth.mfa.webauthn.internal import auth
from cryptography.exceptions import InvalidSignature
from django import forms
from django.core.exceptions import ValidationError
from fido2.utils import websafe_encode
from fido2.webauthn import (
    AttestedCredentialData,
    AuthenticationResponse,
    CollectedClientData,
    RegistrationResponse,
)

from console.people.forms import LineField
from console.people.passkey_challenges import consume_challenge
from projects.common.passkey_counters import advance_counter
from projects.common.translation import lazy
from projects.records.mfa_audit import report_cloned_passkey

LONGEST_NAME = 80
# In characters of JSON. A passkey's answer takes one or two thousand.
LONGEST_ANSWER = 20_000
# Exceptions that fido2 raises on malformed bytes, CBOR and JSON.
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, RecursionError, struct.error)

NO_ANSWER = lazy("Your browser sent no passkey. Click the button and follow the prompts.")
UNREADABLE = lazy("Your browser’s response couldn’t be read. Try again, or use another browser.")
STALE = lazy("This request has expired. Try again.")
FOREIGN = lazy("This passkey was requested from another address. Open Makegood at its usual address and try again.")
UNKNOWN = lazy("This passkey isn’t registered here. Sign in another way.")
UNVERIFIED = lazy(
    "This key has no PIN or fingerprint, so it can’t replace your password. "
    "Set a PIN on it, or use it after e-mail and password."
)
COPIED = lazy(
    "This passkey may have been copied, so it was refused. Sign in another way, "
    "remove it under “Passkeys and codes”, and add a new one."
)
NOT_ADDED = lazy("This key can’t be used here. Try again, or use another one.")
NOT_ALONE = lazy(
    "This key has no PIN or fingerprint, so it can’t replace your password. "
    "Set a PIN on it, or clear the checkbox to use it after your password."
)
ADDED_BEFORE = lazy("You’ve already added this passkey. Use another device or key.")
NAMELESS = lazy("Enter a name, such as “Blue key”.")


class AnswerField(forms.Field):
    """The browser's answer: a JSON object in a hidden field that a script fills."""

    widget = forms.HiddenInput
    default_error_messages = {"required": NO_ANSWER, "invalid": UNREADABLE}

    def to_python(self, value: Any) -> dict[str, Any] | None:
        if value in self.empty_values:
            return None
        try:
            answer = json.loads(value) if len(value) <= LONGEST_ANSWER else None
        except MALFORMED as error:
            raise ValidationError(UNREADABLE) from error
        if not isinstance(answer, dict):
            raise ValidationError(UNREADABLE)
        return answer


class AddPasskeyForm(allauth_forms.AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A new passkey and its name. Only the required parts of the answer are stored, re-encoded."""

    name = LineField(max_length=LONGEST_NAME, required=False)
    credential = AnswerField()

    def clean_credential(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data["credential"]
        answer = _read(RegistrationResponse, given)
        _require_own_challenge(answer.response.client_data)
        key = answer.response.attestation_object.auth_data.credential_data
        if key is None or not _can_check_signatures(key):
            raise ValidationError(NOT_ADDED)
        if auth.get_authenticator_by_credential_id(self.user, key.credential_id):
            raise ValidationError(ADDED_BEFORE)
        return _stored_credential(answer)

    def clean(self) -> dict[str, Any]:
        answer = self.cleaned_data.get("credential")
        if answer and self.cleaned_data.get("passwordless"):
            self._require_passwordless(answer)
        try:
            cleaned: dict[str, Any] = super().clean()
        except ValidationError as error:
            raise ValidationError(NOT_ADDED) from error
        return cleaned

    def _require_passwordless(self, answer: dict[str, Any]) -> None:
        """Require user verification. The key is resident, or the browser wouldn't have created it."""
        if not _read(RegistrationResponse, answer).response.attestation_object.auth_data.is_user_verified():
            raise ValidationError(NOT_ALONE)
        answer["clientExtensionResults"] = {"credProps": {"rk": True}}


class PasskeyForm(allauth_forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey as second factor. Its attempts share the rate limit of codes."""

    credential = AnswerField()

    def clean_credential(self) -> Authenticator:
        answer = _read(AuthenticationResponse, self.cleaned_data["credential"])
        _require_own_challenge(answer.response.client_data)
        self.check(answer)
        try:
            factor = super().clean_credential()
            is_counted = advance_counter(factor, answer.response.authenticator_data.counter)
        except ValidationError as error:
            if error.code == "too_many_login_attempts":
                raise
            raise ValidationError(UNKNOWN) from error
        except (*MALFORMED, Authenticator.DoesNotExist) as error:
            raise ValidationError(UNKNOWN) from error
        if not is_counted:
            report_cloned_passkey(context.request, factor)
            raise ValidationError(COPIED)
        return factor

    def check(self, answer: AuthenticationResponse) -> None:
        """Additional checks of a subclass."""


class ReauthenticateForm(PasskeyForm, allauth_forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """Reauthentication before changing sign-in methods."""


class SignInForm(PasskeyForm, allauth_forms.LoginWebAuthnForm):  # type: ignore[misc]
    """Passwordless sign-in. Replaces e-mail, password and second factor, so it requires user verification."""

    def check(self, answer: AuthenticationResponse) -> None:
        """Check the verified flag of the answer itself; the browser may ignore what the challenge asked for."""
        if not consume_challenge(answer.response.client_data.challenge):
            raise ValidationError(STALE)
        if not answer.response.authenticator_data.is_user_verified():
            raise ValidationError(UNVERIFIED)


class RenameForm(allauth_forms.EditWebAuthnForm):  # type: ignore[misc]
    name = LineField(max_length=LONGEST_NAME, error_messages={"required": NAMELESS})


def origin_host(client_data: CollectedClientData) -> str:
    """The requesting page's host as reported by the browser; empty if missing."""
    try:
        return urlsplit(client_data.origin).hostname or ""
    except MALFORMED:
        return ""


def _read(kind: type[Any], answer: dict[str, Any]) -> Any:
    """Parse the answer with fido2. Raises ValidationError if it is malformed."""
    try:
        return kind.from_dict(answer)
    except MALFORMED as error:
        raise ValidationError(UNREADABLE) from error


def _require_own_challenge(client_data: CollectedClientData) -> None:
    """Require the last challenge, issued to this exact host. fido2 would also accept subdomains."""
    if origin_host(client_data) != get_adapter().get_public_key_credential_rp_entity()["id"]:
        raise ValidationError(FOREIGN)
    state = auth.get_state()
    if not state or state["challenge"] != websafe_encode(client_data.challenge):
        raise ValidationError(STALE)


def _can_check_signatures(key: AttestedCredentialData) -> bool:
    """Return True if the public key is complete and of a known type.

    A key that rejects an empty signature as invalid, rather than failing, can check real ones.
    """
    try:
        key.public_key.verify(b"", b"")
    except InvalidSignature:
        return True
    except (*MALFORMED, NotImplementedError):
        return False
    return False


def _stored_credential(answer: RegistrationResponse) -> dict[str, Any]:
    """The parts of the answer needed to sign in, and whether the key is resident, if reported."""
    properties = answer.client_extension_results.get("credProps")
    is_resident = properties.get("rk") if isinstance(properties, dict) else None
    return {
        "id": answer.id,
        "rawId": websafe_encode(answer.raw_id),
        "type": "public-key",
        "response": {
            "clientDataJSON": websafe_encode(answer.response.client_data),
            "attestationObject": websafe_encode(answer.response.attestation_object),
        },
        "clientExtensionResults": {"credProps": {"rk": is_resident}} if isinstance(is_resident, bool) else {},
    }
