"""What a browser answers about a passkey, read before allauth reads it, and said in words where it can't be used.

allauth trusts the answer to be of the right form. Anyone may send another, also from the page of signing in.
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
from console.people.passkey_challenges import spend_question
from projects.common.passkey_counters import advance_counter
from projects.records.mfa_audit import report_cloned_passkey

LONGEST_NAME = 80
# Of an answer as text. A passkey's takes one or two thousand characters.
LONGEST_ANSWER = 20_000
# What fido2 raises at bytes, CBOR and JSON of another form.
OF_ANOTHER_FORM = (ValueError, TypeError, AttributeError, LookupError, RecursionError, struct.error)

NO_ANSWER = "The browser gave no answer. Press the button, and follow what it asks."
UNREADABLE = "What the browser sent is no passkey. Try again, or with another browser."
STALE = "This page asked too long ago, or another tab asked since. Press the button once more."
FOREIGN = "This passkey was asked for by another address. Open the address that you always use, and try again."
UNKNOWN = "This passkey isn’t known here: it was removed, or it is one of another account. Sign in another way."
UNVERIFIED = (
    "This key asked for no PIN and no fingerprint, so it can’t open the account alone. "
    "Set a PIN on it, or sign in with e-mail and password and use it after them."
)
COPIED = (
    "This passkey may have been copied: another use of it has counted further. Use another way, "
    "remove this passkey under “Passkeys and codes”, and add a new one."
)
NOT_ADDED = "This key can’t be used here. Try once more, or with another one."
NOT_ALONE = (
    "This key asked for no PIN and no fingerprint, so it can’t open the account alone. "
    "Set a PIN on it, or untick the box: then it comes after the password."
)
ADDED_BEFORE = "This passkey is in your list already. Use another device or key."
NAMELESS = "Write a name by which you know it again, such as “Blue key”."


class AnswerField(forms.Field):
    """The browser's answer: a JSON object, in a field that a script fills."""

    widget = forms.HiddenInput
    default_error_messages = {"required": NO_ANSWER, "invalid": UNREADABLE}

    def to_python(self, value: Any) -> dict[str, Any] | None:
        if value in self.empty_values:
            return None
        try:
            answer = json.loads(value) if len(value) <= LONGEST_ANSWER else None
        except OF_ANOTHER_FORM as error:
            raise ValidationError(UNREADABLE) from error
        if not isinstance(answer, dict):
            raise ValidationError(UNREADABLE)
        return answer


class AddPasskeyForm(allauth_forms.AddWebAuthnForm):  # type: ignore[misc]  # allauth has no types
    """A new passkey, and what its owner calls it. Kept of the answer is what is needed, in our own encoding."""

    name = LineField(max_length=LONGEST_NAME, required=False)
    credential = AnswerField()

    def clean_credential(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data["credential"]
        answer = _read(RegistrationResponse, given)
        _demand_asked_here(answer.response.client_data)
        key = answer.response.attestation_object.auth_data.credential_data
        if key is None or not _can_check_signatures(key):
            raise ValidationError(NOT_ADDED)
        if auth.get_authenticator_by_credential_id(self.user, key.credential_id):
            raise ValidationError(ADDED_BEFORE)
        return _kept(answer)

    def clean(self) -> dict[str, Any]:
        answer = self.cleaned_data.get("credential")
        if answer and self.cleaned_data.get("passwordless"):
            self._demand_alone(answer)
        try:
            cleaned: dict[str, Any] = super().clean()
        except ValidationError as error:
            raise ValidationError(NOT_ADDED) from error
        return cleaned

    def _demand_alone(self, answer: dict[str, Any]) -> None:
        """The key asked who holds it. It keeps the account itself, or the browser would not have made it."""
        if not _read(RegistrationResponse, answer).response.attestation_object.auth_data.is_user_verified():
            raise ValidationError(NOT_ALONE)
        answer["clientExtensionResults"] = {"credProps": {"rk": True}}


class PasskeyForm(allauth_forms.AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey after the password. Its tries count with those of codes."""

    credential = AnswerField()

    def clean_credential(self) -> Authenticator:
        answer = _read(AuthenticationResponse, self.cleaned_data["credential"])
        _demand_asked_here(answer.response.client_data)
        self.check(answer)
        try:
            factor = super().clean_credential()
            is_counted = advance_counter(factor, answer.response.authenticator_data.counter)
        except ValidationError as error:
            if error.code == "too_many_login_attempts":
                raise
            raise ValidationError(UNKNOWN) from error
        except (*OF_ANOTHER_FORM, Authenticator.DoesNotExist) as error:
            raise ValidationError(UNKNOWN) from error
        if not is_counted:
            report_cloned_passkey(context.request, factor)
            raise ValidationError(COPIED)
        return factor

    def check(self, answer: AuthenticationResponse) -> None:
        """What this way of using it asks besides."""


class ReauthenticateForm(PasskeyForm, allauth_forms.ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey of somebody who is signed in, before they change how they sign in."""


class SignInForm(PasskeyForm, allauth_forms.LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey alone. It stands for e-mail, password and second factor, so it has to have asked who holds it."""

    def check(self, answer: AuthenticationResponse) -> None:
        """What the browser made of a question that demands it is not believed."""
        if not spend_question(answer.response.client_data.challenge):
            raise ValidationError(STALE)
        if not answer.response.authenticator_data.is_user_verified():
            raise ValidationError(UNVERIFIED)


class RenameForm(allauth_forms.EditWebAuthnForm):  # type: ignore[misc]
    name = LineField(max_length=LONGEST_NAME, error_messages={"required": NAMELESS})


def origin_host(said: CollectedClientData) -> str:
    """The host of the page that asked, as the browser says; empty if it names none."""
    try:
        return urlsplit(said.origin).hostname or ""
    except OF_ANOTHER_FORM:
        return ""


def _read(kind: type[Any], answer: dict[str, Any]) -> Any:
    """The answer as fido2 reads it; ValidationError for one of another form."""
    try:
        return kind.from_dict(answer)
    except OF_ANOTHER_FORM as error:
        raise ValidationError(UNREADABLE) from error


def _demand_asked_here(said: CollectedClientData) -> None:
    """The browser answers our last question, put by a page of this very host: fido2 would take one of a subdomain as well."""
    if origin_host(said) != get_adapter().get_public_key_credential_rp_entity()["id"]:
        raise ValidationError(FOREIGN)
    state = auth.get_state()
    if not state or state["challenge"] != websafe_encode(said.challenge):
        raise ValidationError(STALE)


def _can_check_signatures(key: AttestedCredentialData) -> bool:
    """Whether the public key is whole and of a kind that we know: a key that refuses a wrong signature accepts a right one."""
    try:
        key.public_key.verify(b"", b"")
    except InvalidSignature:
        return True
    except (*OF_ANOTHER_FORM, NotImplementedError):
        return False
    return False


def _kept(answer: RegistrationResponse) -> dict[str, Any]:
    """The parts of the answer that signing in needs, and whether the key keeps the account itself, if it said so."""
    properties = answer.client_extension_results.get("credProps")
    keeps = properties.get("rk") if isinstance(properties, dict) else None
    return {
        "id": answer.id,
        "rawId": websafe_encode(answer.raw_id),
        "type": "public-key",
        "response": {
            "clientDataJSON": websafe_encode(answer.response.client_data),
            "attestationObject": websafe_encode(answer.response.attestation_object),
        },
        "clientExtensionResults": {"credProps": {"rk": keeps}} if isinstance(keeps, bool) else {},
    }
