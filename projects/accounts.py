"""Signing in and up, for allauth."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse

from projects import crypto
from projects.mail import deliver, has_server

# A person belongs to no tenant, so their secrets are bound to none.
NO_TENANT = UUID(int=0)


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

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """A mail server that is away changes no answer: it would tell which addresses have accounts."""
        deliver(self.render_mail(template_prefix, email, {"email": email, "base_url": settings.BASE_URL, **context}))

    def get_reset_password_from_key_url(self, key: str) -> str:
        """At this server's own address, whatever host the request named."""
        made_up = reverse("account_reset_password_from_key", kwargs={"uidb36": "UID", "key": "KEY"})
        return f"{settings.BASE_URL}{made_up.replace('UID-KEY', key)}"

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return f"{settings.BASE_URL}{reverse('account_confirm_email', args=[emailconfirmation.key])}"

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """The second factor. Its secrets are encrypted at rest."""

    error_messages = DefaultMFAAdapter.error_messages | {
        "incorrect_code": AccountAdapter.error_messages["incorrect_code"],
    }

    def get_totp_issuer(self) -> str:
        return "Makegood"

    def encrypt(self, text: str) -> str:
        return crypto.encrypt(text, organization_id=NO_TENANT, field="mfa")

    def decrypt(self, encrypted_text: str) -> str:
        return crypto.decrypt(encrypted_text, organization_id=NO_TENANT, field="mfa")


def entrance_context(request: HttpRequest) -> dict[str, bool]:
    """For the pages around signing in: whether a link can arrive at all, and whether anyone may sign up."""
    return {"has_mail_server": has_server(), "signup_is_open": bool(settings.SIGNUP)}
