"""Multi-factor authentication: passkeys, authenticator app, recovery codes. Extends allauth's views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, cast

from allauth.account.utils import passthrough_next_redirect_url
from allauth.core.ratelimit import consume_or_429
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.views import AuthenticateView, IndexView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.internal import auth
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    EditWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.generic.edit import FormView

from console.people.passkey_challenges import make_challenge, read_challenge
from console.people.passkey_forms import origin_host
from console.timestamps import Timestamp, format_timestamp
from projects.models import AuditAction, User
from projects.records.mfa_audit import record_factor_change


@dataclass(frozen=True)
class PasskeyRow:
    id: int
    name: str
    opens_alone: bool
    # The host it was registered for, if different from this one.
    elsewhere: str
    added: Timestamp
    used: Timestamp | None


class FactorIndex(IndexView):  # type: ignore[misc]  # allauth has no types
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the passkeys, oldest first."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        found = context["authenticators"].get(Authenticator.Type.WEBAUTHN, ())
        return {**context, "passkeys": [_row(one) for one in sorted(found, key=lambda one: one.instance.pk)]}


def redirect_if_unreadable(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Redirect to the factor index with an error if the recovery codes can't be decrypted."""

    @wraps(page)
    def answer(request: HttpRequest) -> HttpResponse:
        try:
            return page(request)
        except ValidationError as lost:
            messages.error(request, lost.messages[0])
            return redirect("mfa_index")

    return answer


class Audited:
    """Mixin that writes the change of a factor and its audit entries in one transaction."""

    action: ClassVar[AuditAction]
    request: HttpRequest

    def form_valid(self, form: Form) -> HttpResponse:
        with transaction.atomic():
            record_factor_change(self.action, user=cast(User, self.request.user), **self.facts(form))
            return cast(HttpResponse, super().form_valid(form))  # type: ignore[misc]  # the page's own

    def facts(self, form: Form) -> dict[str, Any]:
        """Subject and changed values for the audit entry."""
        return {}


class KeepsRefusedForm:
    """Mixin that shows the refused form again. allauth would build a new one and check the answer against a new challenge."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), **kwargs}  # type: ignore[misc]  # the page's own


class AddPasskey(Audited, KeepsRefusedForm, AddWebAuthnView):  # type: ignore[misc]
    action = AuditAction.PASSKEY_ADDED

    def facts(self, form: Form) -> dict[str, Any]:
        return {"subject": form.cleaned_data["name"]}


class RenamePasskey(Audited, EditWebAuthnView):  # type: ignore[misc]
    action = AuditAction.PASSKEY_RENAMED

    def form_valid(self, form: Form) -> HttpResponse:
        is_same = form.cleaned_data["name"] == str(self.object)
        return redirect("mfa_index") if is_same else super().form_valid(form)

    def facts(self, form: Form) -> dict[str, Any]:
        name, new = str(self.object), form.cleaned_data["name"]
        return {"subject": new, "before": {"name": name}, "after": {"name": new}}


class FactorRemoval(Audited):
    """Mixin for removing a factor; warns about the last one. Recovery codes don't count."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        factors = Authenticator.objects.filter(user=cast(User, self.request.user))
        is_last = factors.exclude(type=Authenticator.Type.RECOVERY_CODES).count() == 1
        return {**super().get_context_data(**kwargs), "is_last": is_last}  # type: ignore[misc]  # the page's own


class RemovePasskey(FactorRemoval, RemoveWebAuthnView):  # type: ignore[misc]
    action = AuditAction.PASSKEY_REMOVED

    def facts(self, form: Form) -> dict[str, Any]:
        return {"subject": str(self.object)}


class TurnOnApp(Audited, ActivateTOTPView):  # type: ignore[misc]
    action = AuditAction.APP_ON


class NewRecoveryCodes(Audited, GenerateRecoveryCodesView):  # type: ignore[misc]
    action = AuditAction.RECOVERY_CODES


class TurnOffApp(FactorRemoval, DeactivateTOTPView):  # type: ignore[misc]
    action = AuditAction.APP_OFF


class SecondFactor(AuthenticateView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the kinds of factors the user has."""
        kinds = Authenticator.objects.filter(user=self.stage.login.user).values_list("type", flat=True)
        return {**super().get_context_data(**kwargs), "has": dict.fromkeys(kinds, True)}


class ReauthenticateByPasskey(KeepsRefusedForm, ReauthenticateWebAuthnView):  # type: ignore[misc]
    # allauth would redirect elsewhere and lose the pending action.
    form_invalid = FormView.form_invalid


class SignInByPasskey(LoginWebAuthnView):  # type: ignore[misc]
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return a challenge as JSON, for the script on the sign-in page."""
        if request.headers.get("Accept") != "application/json":
            return redirect("account_login")
        refused = consume_or_429(request, action="passkey_question", limit_get=True)
        return refused or JsonResponse(make_challenge())

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Verify the answer. allauth reads the challenge from the session, so it is put there for this request only."""
        auth.clear_state()
        if challenge := read_challenge(request.POST.get("question", "")):
            auth.set_state(challenge)
        try:
            return cast(HttpResponse, super().post(request, *args, **kwargs))
        finally:
            auth.clear_state()

    def form_invalid(self, form: Form) -> HttpResponse:
        """Redirect to the sign-in page, keeping `next`."""
        messages.error(self.request, str(form.errors["credential"][0]))
        return redirect(passthrough_next_redirect_url(self.request, reverse("account_login"), REDIRECT_FIELD_NAME))


def _row(key: auth.WebAuthn) -> PasskeyRow:
    one = key.instance
    host = origin_host(auth.parse_registration_response(one.data["credential"]).response.client_data)
    return PasskeyRow(
        id=one.pk,
        name=key.name,
        opens_alone=bool(key.is_passwordless),
        elsewhere="" if host == get_adapter().get_public_key_credential_rp_entity()["id"] else host,
        added=format_timestamp(one.created_at),
        used=format_timestamp(one.last_used_at) if one.last_used_at else None,
    )
