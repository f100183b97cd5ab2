"""Addresses of allauth that a page of ours answers. They stand before allauth's own, under the same names."""

from __future__ import annotations

from allauth.mfa.recovery_codes.views import download_recovery_codes, view_recovery_codes
from django.urls import path

from projects.pages.people import factors

urlpatterns = [
    path("", factors.FactorsPage.as_view(), name="mfa_index"),
    path("authenticate/", factors.SecondFactor.as_view(), name="mfa_authenticate"),
    path("totp/activate/", factors.TurnOnApp.as_view(), name="mfa_activate_totp"),
    path("totp/deactivate/", factors.TurnOffApp.as_view(), name="mfa_deactivate_totp"),
    path("recovery-codes/", factors.unless_lost(view_recovery_codes), name="mfa_view_recovery_codes"),
    path("recovery-codes/download/", factors.unless_lost(download_recovery_codes), name="mfa_download_recovery_codes"),
    path("recovery-codes/generate/", factors.NewRecoveryCodes.as_view(), name="mfa_generate_recovery_codes"),
    path("webauthn/", factors.passkeys, name="mfa_list_webauthn"),
    path("webauthn/add/", factors.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path("webauthn/keys/<int:pk>/edit/", factors.RenamePasskey.as_view(), name="mfa_edit_webauthn"),
    path("webauthn/keys/<int:pk>/remove/", factors.RemovePasskey.as_view(), name="mfa_remove_webauthn"),
    path("webauthn/login/", factors.SignInByPasskey.as_view(), name="mfa_login_webauthn"),
    path("webauthn/reauthenticate/", factors.ReauthenticateByPasskey.as_view(), name="mfa_reauthenticate_webauthn"),
]
