"""What opens an account besides its password: passkeys, the app on the phone, recovery codes. allauth's pages, in our words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, cast
from urllib.parse import urlencode

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
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from fido2.webauthn import RegistrationResponse

from console.people.moments import Moment, moment
from console.people.passkey_challenges import make_question, read_question
from console.people.passkey_forms import origin_host
from projects.models import AuditAction, User
from projects.records.mfa_audit import note_factor


@dataclass(frozen=True)
class PasskeyRow:
    id: int
    name: str
    opens_alone: bool
    # The host that it was made for, where that is another than this page's.
    elsewhere: str
    added: Moment
    used: Moment | None


class FactorsPage(IndexView):  # type: ignore[misc]  # allauth has no types
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "passkeys": passkey_rows(cast(User, self.request.user))}


def unless_lost(page: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A page of recovery codes; where they can't be read any more, the page of all factors, which says why."""

    @wraps(page)
    def answer(request: HttpRequest) -> HttpResponse:
        try:
            return page(request)
        except ValidationError as lost:
            messages.error(request, lost.messages[0])
            return redirect("mfa_index")

    return answer


@login_required
def passkeys(request: HttpRequest) -> HttpResponse:
    """They are listed on the page of all factors."""
    return redirect("mfa_index")


class Noted:
    """Of a page that changes how one signs in: the change and its entries in the trail are one transaction."""

    action: ClassVar[AuditAction]
    request: HttpRequest

    def form_valid(self, form: Form) -> HttpResponse:
        with transaction.atomic():
            note_factor(self.action, user=cast(User, self.request.user), **self.facts(form))
            return cast(HttpResponse, super().form_valid(form))  # type: ignore[misc]  # the page's own

    def facts(self, form: Form) -> dict[str, Any]:
        """Which one, and what is different of it."""
        return {}


class AddPasskey(Noted, AddWebAuthnView):  # type: ignore[misc]
    action = AuditAction.PASSKEY_ADDED

    def facts(self, form: Form) -> dict[str, Any]:
        return {"subject": form.cleaned_data["name"]}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With the form that was refused: another would be held against the next question."""
        return {**super().get_context_data(**kwargs), **kwargs}


class RenamePasskey(Noted, EditWebAuthnView):  # type: ignore[misc]
    action = AuditAction.PASSKEY_RENAMED

    def form_valid(self, form: Form) -> HttpResponse:
        is_same = form.cleaned_data["name"] == str(self.object)
        return redirect("mfa_index") if is_same else super().form_valid(form)

    def facts(self, form: Form) -> dict[str, Any]:
        name, new = str(self.object), form.cleaned_data["name"]
        return {"subject": new, "before": {"name": name}, "after": {"name": new}}


class RemovePasskey(Noted, RemoveWebAuthnView):  # type: ignore[misc]
    action = AuditAction.PASSKEY_REMOVED

    def facts(self, form: Form) -> dict[str, Any]:
        return {"subject": str(self.object)}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        others = first_factors(cast(User, self.request.user)) - {self.object.pk}
        return {**super().get_context_data(**kwargs), "is_last": not others}


class TurnOnApp(Noted, ActivateTOTPView):  # type: ignore[misc]
    action = AuditAction.APP_ON


class NewRecoveryCodes(Noted, GenerateRecoveryCodesView):  # type: ignore[misc]
    action = AuditAction.RECOVERY_CODES


class TurnOffApp(Noted, DeactivateTOTPView):  # type: ignore[misc]
    action = AuditAction.APP_OFF

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        others = first_factors(cast(User, self.request.user)) - {self.authenticator.pk}
        return {**super().get_context_data(**kwargs), "is_last": not others}


class SecondFactor(AuthenticateView):  # type: ignore[misc]
    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """With what the person has, so that they are asked for that."""
        user = self.stage.login.user
        has = {kind.value: get_adapter().is_mfa_enabled(user, [kind]) for kind in Authenticator.Type}
        return {**super().get_context_data(**kwargs), "has": has}


class ReauthenticateByPasskey(ReauthenticateWebAuthnView):  # type: ignore[misc]
    def form_invalid(self, form: Form) -> HttpResponse:
        """The same page once more: allauth's would go elsewhere, and lose what the person was about to do."""
        return cast(HttpResponse, self.render_to_response(self.get_context_data(form=form)))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), **kwargs}


class SignInByPasskey(LoginWebAuthnView):  # type: ignore[misc]
    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The question to the browser, which every page of signing in puts by itself."""
        if request.headers.get("Accept") != "application/json":
            return redirect("account_login")
        refused = consume_or_429(request, action="passkey_question", limit_get=True)
        return refused or JsonResponse(make_question())

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """The answer, with its question: allauth looks for that in the session, where it is for this moment only."""
        auth.clear_state()
        if question := read_question(request.POST.get("question", "")):
            auth.set_state(question)
        try:
            return cast(HttpResponse, super().post(request, *args, **kwargs))
        finally:
            auth.clear_state()

    def form_invalid(self, form: Form) -> HttpResponse:
        """Back to the page of signing in, which still leads to where the person wanted to go."""
        messages.error(self.request, str(form.errors["credential"][0]))
        wanted = self.request.POST.get(REDIRECT_FIELD_NAME)
        query = f"?{urlencode({REDIRECT_FIELD_NAME: wanted})}" if wanted else ""
        return redirect(f"{reverse('account_login')}{query}")


def first_factors(user: User) -> set[int]:
    """What a person signs in with besides the password, but for recovery codes, which stand in for those."""
    factors = Authenticator.objects.filter(user=user).exclude(type=Authenticator.Type.RECOVERY_CODES)
    return set(factors.values_list("pk", flat=True))


def passkey_rows(user: User) -> list[PasskeyRow]:
    """A person's passkeys, in the order in which they were added."""
    found = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN).order_by("created_at", "pk")
    return [_row(one) for one in found]


def _row(one: Authenticator) -> PasskeyRow:
    host = origin_host(RegistrationResponse.from_dict(one.data["credential"]))
    return PasskeyRow(
        id=one.pk,
        name=one.wrap().name,
        opens_alone=bool(one.wrap().is_passwordless),
        elsewhere="" if host == get_adapter().get_public_key_credential_rp_entity()["id"] else host,
        added=moment(one.created_at),
        used=moment(one.last_used_at) if one.last_used_at else None,
    )
