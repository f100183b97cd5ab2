"""Signing in and up, for allauth."""

from __future__ import annotations

import time
from itertools import count
from typing import Any, cast
from uuid import UUID

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.account.forms import LoginForm as DefaultLoginForm
from allauth.account.forms import SignupForm as DefaultSignupForm
from allauth.account.internal.flows.reauthentication import suspend_request
from allauth.account.internal.flows.signup import prevent_enumeration
from allauth.account.models import EmailAddress
from allauth.account.signals import password_reset
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import redirect
from django.urls import reverse

from projects.accounts.email_addresses import free_address, may_confirm, unclaimed
from projects.accounts.invitations import read_offer
from projects.common import crypto
from projects.common.api_error import ApiError
from projects.common.mail import deliver, has_server
from projects.models import User

# A person belongs to no tenant, so their secrets are bound to none.
NO_TENANT = UUID(int=0)
# Ways to show once more that it is you, by allauth's names for them.
WAYS = {
    "reauthenticate": "Use the password",
    "mfa_reauthenticate": "Use a code",
    "mfa_reauthenticate:webauthn": "Use a passkey",
}
# Places in the session: the link of an invitation that was followed, and who is about to sign in.
TOKEN = "invitation"  # noqa: S105
EXPECTED = "sign_in_as"
CONFIRM_LATER = "Sign in, and open the link of the e-mail again: that shows that the account is yours. If it isn’t, set a new password."


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": "This e-mail and password don’t belong together.",
        "email_taken": "Somebody has signed up with this e-mail. Sign in, or set a new password.",
        "incorrect_code": "This code isn’t right. Codes change every 30 seconds; write the one shown now.",
        "incorrect_password": "This password isn’t right.",
        "enter_current_password": "This is not your current password.",
        "rate_limited": "Too many tries. Wait a minute.",
        "too_many_login_attempts": "Too many tries. Wait five minutes, or set a new password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether anyone may sign up, or people come by invitation only."""
        return bool(settings.SIGNUP)

    def clean_email(self, email: str) -> str:
        """An address as it will be stored: allauth would cut a longer one, and make an account of what is left."""
        longest = User._meta.get_field("email").max_length or 0
        if len(email) > longest:
            raise ValidationError(f"An e-mail address has at most {longest} characters; this has {len(email)}.")
        return email

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Confirm an address for whoever knows the account's password; others are told to sign in first."""
        if not may_confirm(request, email_address.user):
            messages.warning(request, CONFIRM_LATER)
            return False
        return bool(super().confirm_email(request, email_address))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """A mail server that is away changes no answer: it would tell which addresses have accounts."""
        message = self.render_mail(template_prefix, email, {"email": email, "base_url": settings.BASE_URL, **context})
        transaction.on_commit(lambda: deliver(message))

    def get_reset_password_from_key_url(self, key: str) -> str:
        """At this server's own address, whatever host the request named."""
        made_up = reverse("account_reset_password_from_key", kwargs={"uidb36": "UID", "key": "KEY"})
        return f"{settings.BASE_URL}{made_up.replace('UID-KEY', key)}"

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return f"{settings.BASE_URL}{reverse('account_confirm_email', args=[emailconfirmation.key])}"

    def get_reauthentication_methods(self, user: AbstractBaseUser | AnonymousUser) -> list[dict[str, Any]]:
        return [{**way, "description": WAYS[way["id"]]} for way in super().get_reauthentication_methods(user)]

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Whoever followed an invitation goes on with it, also by way of a new password."""
        offer = read_offer(request.session.get(TOKEN, ""))
        is_mine = offer is not None and isinstance(request.user, User) and request.user.email == offer.email
        return reverse("join") if is_mine else str(super().get_login_redirect_url(request))

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")


class LoginForm(DefaultLoginForm):  # type: ignore[misc]  # allauth has no types
    """Signing in; who comes from an invitation, or has just set a new password, needn't write their address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].initial = self.request.session.get(EXPECTED, "")


def expect_sign_in(request: HttpRequest, email: str) -> None:
    """Who signs in next in this browser, as far as is known."""
    request.session[EXPECTED] = email


@receiver(password_reset)
def _expect_whose_password_it_is(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    expect_sign_in(request, user.email)


class SignupForm(DefaultSignupForm):  # type: ignore[misc]  # allauth has no types
    """Signing up, also with an address that somebody signed up with who never showed that it is theirs.

    Where addresses are verified, a taken one gets the page that any other gets, and an e-mail that says so. Where they aren't, a
    newcomer is let in at once: nothing that could be said to the others would look the same.
    """

    def validate_unique_email(self, value: str) -> str:
        return value if unclaimed(value) else str(super().validate_unique_email(value))

    def try_save(self, request: HttpRequest) -> Any:
        """Of two who sign up with one address at once, who press twice among them, one does; the address is taken for the other."""
        if self.account_already_exists:
            # As long as a new account takes: neither does the time tell.
            make_password(self.cleaned_data["password1"])
        try:
            with transaction.atomic():
                return super().try_save(request)
        except IntegrityError:
            return None, self._answer_of_a_taken_one(request)

    def _answer_of_a_taken_one(self, request: HttpRequest) -> HttpResponse:
        email = self.cleaned_data["email"]
        if app_settings.EMAIL_VERIFICATION == app_settings.EmailVerificationMethod.MANDATORY:
            return cast(HttpResponse, prevent_enumeration(request, email=email))
        expect_sign_in(request, email)
        messages.warning(request, AccountAdapter.error_messages["email_taken"])
        return redirect("account_login")

    def save(self, request: HttpRequest) -> Any:
        free_address(self.cleaned_data["email"])
        return super().save(request)


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Second factors and passkeys. Secrets are encrypted at rest; of a passkey the public key is all that we have."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": AccountAdapter.error_messages["incorrect_code"],
        "lost_secret": "No code can be checked: this server's key for secrets is another one than when you turned codes on. Ask"
        " whoever runs the server to take the second factor off your account.",
    }

    def get_totp_issuer(self) -> str:
        return "Makegood"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Passkeys belong to the host that the person uses, whichever of ALLOWED_HOSTS that is."""
        host, _ = split_domain_port(context.request.get_host())
        return {"id": host, "name": "Makegood"}

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        return {**super().get_public_key_credential_user_entity(user), "display_name": user.name}

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:
        """The first free one of "Passkey", "Passkey 2", "Passkey 3" and so on."""
        taken = {str(one) for one in Authenticator.objects.filter(user=user, type=type)}
        names = ("Passkey" if number == 1 else f"Passkey {number}" for number in count(1))
        return next(name for name in names if name not in taken)

    def encrypt(self, text: str) -> str:
        return crypto.encrypt(text, organization_id=NO_TENANT, field="mfa")

    def decrypt(self, encrypted_text: str) -> str:
        try:
            return crypto.decrypt(encrypted_text, organization_id=NO_TENANT, field="mfa")
        except crypto.WrongSecret as error:
            lost = self.validation_error("lost_secret")
            # A page that only counts what is left of the recovery codes opens all the same.
            lost.silent_variable_failure = True
            raise lost from error


def signed_in_of_late(request: HttpRequest) -> bool:
    """Whether the person of this session proved who they are within `ACCOUNT_REAUTHENTICATION_TIMEOUT` seconds.

    What a stolen session alone can't do asks for it (threat 13).
    """
    records = get_authentication_records(request, request.user)
    return any(time.time() - record.get("at", 0) < app_settings.REAUTHENTICATION_TIMEOUT for record in records)


def require_recent_sign_in(request: HttpRequest) -> None:
    """Raises ApiError unless the person signed in, or entered their password again, of late."""
    if not signed_in_of_late(request):
        message = "Enter your password again first: you signed in too long ago for this."
        raise ApiError("sign_in_again", message, status=403)


def ask_for_password(request: HttpRequest) -> HttpResponse:
    """To the page that asks for it; what the form was sent for is done after that."""
    return suspend_request(request, reverse("account_reauthenticate"))  # type: ignore[no-any-return]


def entrance_context(request: HttpRequest) -> dict[str, bool]:
    """For the pages around signing in: whether a link can arrive at all, and whether anyone may sign up."""
    return {"has_mail_server": has_server(), "signup_is_open": bool(settings.SIGNUP)}
