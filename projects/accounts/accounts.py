"""Sign-in and sign-up: adapters and forms for allauth."""

from __future__ import annotations

import time
from itertools import count
from typing import Any, cast
from uuid import UUID

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.account.forms import LoginForm as DefaultLoginForm
from allauth.account.forms import ResetPasswordForm as DefaultResetPasswordForm
from allauth.account.forms import SignupForm as DefaultSignupForm
from allauth.account.internal.flows.reauthentication import suspend_request
from allauth.account.internal.flows.signup import prevent_enumeration
from allauth.account.models import EmailAddress
from allauth.account.signals import password_reset
from allauth.account.utils import user_email
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
from django.forms import Field
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import get_language, gettext, override

from projects.accounts.email_addresses import find_unclaimed, may_confirm, release_address
from projects.accounts.invitations import read_offer
from projects.accounts.languages import staff_language
from projects.accounts.sign_in_limits import LimitedSignIn
from projects.common import crypto
from projects.common.api_error import ApiError
from projects.common.mail import deliver, has_server
from projects.common.translation import lazy
from projects.models import User

# Users belong to no tenant, so their secrets are bound to none.
NO_TENANT = UUID(int=0)
ADDRESS_ERRORS = {
    "required": lazy("Enter an e-mail address."),
    "invalid": lazy("Enter a valid e-mail address, like ada@example.com."),
}
# Labels of the reauthentication methods, by allauth's ids.
REAUTHENTICATION_LABELS = {
    "reauthenticate": lazy("Use the password"),
    "mfa_reauthenticate": lazy("Use a code"),
    "mfa_reauthenticate:webauthn": lazy("Use a passkey"),
}
# Session keys: the token of a followed invitation, and the e-mail to prefill at sign-in.
INVITATION_TOKEN = "invitation"  # noqa: S105
PREFILLED_EMAIL = "sign_in_as"
CONFIRM_LATER = lazy(
    "Sign in and open the link in the e-mail again, so that we know the account is yours. Or set a new password."
)


class AccountAdapter(LimitedSignIn, DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": lazy("The e-mail or the password is wrong."),
        "email_taken": lazy("This e-mail already has an account. Sign in, or set a new password."),
        "incorrect_code": lazy("This code is wrong. Codes change every 30 seconds; enter the current one."),
        "incorrect_password": lazy("This password is wrong."),
        "enter_current_password": lazy("This isn’t your current password."),
        "rate_limited": lazy("Too many attempts. Wait a minute."),
        "too_many_at_once": lazy("Too many attempts at once. Wait ten seconds, use a passkey, or set a new password."),
        "too_many_login_attempts": lazy("Too many attempts. Wait five minutes, or set a new password."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """True if anyone may sign up; otherwise an invitation is required."""
        return bool(settings.SIGNUP)

    def clean_email(self, email: str) -> str:
        """Reject an address that is too long. allauth would truncate it and create an account for the result."""
        longest = User._meta.get_field("email").max_length or 0
        if len(email) > longest:
            raise ValidationError(
                gettext("Use an e-mail address of at most %(longest)s characters. This one has %(email)s.")
                % {"longest": longest, "email": len(email)}
            )
        return email

    def save_user(self, request: HttpRequest, user: User, form: SignupForm, commit: bool = True) -> User:
        """Save a new user with the hash that the form has computed. allauth would hash inside the transaction."""
        user_email(user, form.cleaned_data["email"])
        user.password = form.password_hash
        if commit:
            user.save()
        return user

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Confirm an address if this browser knows the account's password; otherwise ask the person to sign in first."""
        if not may_confirm(request, email_address.user):
            messages.warning(request, CONFIRM_LATER)
            return False
        return bool(super().confirm_email(request, email_address))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send after the commit and ignore failures: an error would reveal which addresses have accounts."""
        user = context.get("user")
        known = (user.language, user.browser_language) if isinstance(user, User) else ()
        with override(staff_language(*known, get_language() or "")):
            message = self.render_mail(
                template_prefix, email, {"email": email, "base_url": settings.BASE_URL, **context}
            )
        transaction.on_commit(lambda: deliver(message))

    def get_reset_password_from_key_url(self, key: str) -> str:
        """The reset URL at this server's configured address, not at the host named by the request."""
        placeholder = reverse("account_reset_password_from_key", kwargs={"uidb36": "UID", "key": "KEY"})
        return f"{settings.BASE_URL}{placeholder.replace('UID-KEY', key)}"

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return f"{settings.BASE_URL}{reverse('account_confirm_email', args=[emailconfirmation.key])}"

    def get_reauthentication_methods(self, user: AbstractBaseUser | AnonymousUser) -> list[dict[str, Any]]:
        return [
            {**way, "description": REAUTHENTICATION_LABELS[way["id"]]}
            for way in super().get_reauthentication_methods(user)
        ]

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """The invitation that the person followed, if it is theirs; otherwise the default. Also applies after a
        password reset.
        """
        offer = read_offer(request.session.get(INVITATION_TOKEN, ""))
        is_mine = offer is not None and isinstance(request.user, User) and request.user.email == offer.email
        return reverse("join") if is_mine else str(super().get_login_redirect_url(request))

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")


def _explain_address(field: Field) -> None:
    """Replace Django's error messages of a field for an e-mail address, also those of its validators."""
    field.error_messages |= ADDRESS_ERRORS


class LoginForm(DefaultLoginForm):  # type: ignore[misc]  # allauth has no types
    """Sign-in form, prefilled with the address after an invitation or a password reset."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _explain_address(self.fields["login"])
        self.fields["login"].initial = self.request.session.get(PREFILLED_EMAIL, "")


def prefill_sign_in(request: HttpRequest, email: str) -> None:
    """Prefill this browser's next sign-in with an address."""
    request.session[PREFILLED_EMAIL] = email


@receiver(password_reset)
def _prefill_after_reset(sender: Any, request: HttpRequest, user: User, **_: Any) -> None:
    prefill_sign_in(request, user.email)


class ResetPasswordForm(DefaultResetPasswordForm):  # type: ignore[misc]  # allauth has no types
    """The address that gets a link to set a new password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _explain_address(self.fields["email"])


class SignupForm(DefaultSignupForm):  # type: ignore[misc]  # allauth has no types
    """Sign-up form. An address held by an account that never confirmed it is available.

    If addresses are verified, a taken one gets the same page as any other, and its owner an e-mail. If they are not,
    sign-up ends in a session at once, so a taken address can't be concealed.
    """

    password_hash = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _explain_address(self.fields["email"])

    def validate_unique_email(self, value: str) -> str:
        return value if find_unclaimed(value) else str(super().validate_unique_email(value))

    def try_save(self, request: HttpRequest) -> Any:
        """Sign up. Of two concurrent sign-ups with one address, or a double submit, the second is told that it is
        taken.
        """
        # Before the transaction. Also for a taken address, so that the response time reveals nothing.
        self.password_hash = make_password(self.cleaned_data["password1"])
        try:
            with transaction.atomic():
                return super().try_save(request)
        except IntegrityError:
            return None, self._answer_of_a_taken_one(request)

    def _answer_of_a_taken_one(self, request: HttpRequest) -> HttpResponse:
        email = self.cleaned_data["email"]
        if app_settings.EMAIL_VERIFICATION == app_settings.EmailVerificationMethod.MANDATORY:
            return cast(HttpResponse, prevent_enumeration(request, email=email))
        prefill_sign_in(request, email)
        messages.warning(request, AccountAdapter.error_messages["email_taken"])
        return redirect("account_login")

    def save(self, request: HttpRequest) -> Any:
        release_address(self.cleaned_data["email"])
        return super().save(request)


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Second factors and passkeys. Secrets are encrypted at rest; of a passkey only the public key is stored."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": AccountAdapter.error_messages["incorrect_code"],
        "lost_secret": lazy(
            "Codes can’t be checked, because this server’s encryption key has changed since you set them up. "
            "Ask the server administrator to remove the second factor from your account."
        ),
    }

    def get_totp_issuer(self) -> str:
        return "Makegood"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """The relying party: passkeys belong to the host in use, which is one of ALLOWED_HOSTS."""
        host, _ = split_domain_port(context.request.get_host())
        return {"id": host, "name": "Makegood"}

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        return {**super().get_public_key_credential_user_entity(user), "display_name": user.name}

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:
        """The first unused name of "Passkey", "Passkey 2", "Passkey 3" and so on."""
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
            # Pages that only count the remaining recovery codes still render.
            lost.silent_variable_failure = True
            raise lost from error


def has_recent_sign_in(request: HttpRequest) -> bool:
    """True if this session's user authenticated within `ACCOUNT_REAUTHENTICATION_TIMEOUT` seconds.

    Required for actions that a stolen session alone must not be able to take.
    """
    records = get_authentication_records(request, request.user)
    return any(time.time() - record.get("at", 0) < app_settings.REAUTHENTICATION_TIMEOUT for record in records)


def require_recent_sign_in(request: HttpRequest) -> None:
    """Raises ApiError 403 unless the user authenticated recently."""
    if not has_recent_sign_in(request):
        message = gettext("Enter your password again. You signed in too long ago to do this.")
        raise ApiError("sign_in_again", message, status=403)


def ask_for_password(request: HttpRequest) -> HttpResponse:
    """Redirect to reauthentication; the suspended request is resumed afterwards."""
    return suspend_request(request, reverse("account_reauthenticate"))  # type: ignore[no-any-return]


def sign_in_context(request: HttpRequest) -> dict[str, bool]:
    """Context processor for the sign-in pages: whether e-mail can be sent, and whether sign-up is open."""
    return {"has_mail_server": has_server(), "signup_is_open": bool(settings.SIGNUP)}
