"""URLs that override allauth's. They are included before allauth's own, under the same names."""

from __future__ import annotations

from allauth.mfa.recovery_codes.views import download_recovery_codes, view_recovery_codes
from django.urls import path
from django.views.generic import RedirectView

from console.people import mfa

urlpatterns = [
    path("", mfa.FactorIndex.as_view(), name="mfa_index"),
    path("authenticate/", mfa.SecondFactor.as_view(), name="mfa_authenticate"),
    path("totp/activate/", mfa.TurnOnApp.as_view(), name="mfa_activate_totp"),
    path("totp/deactivate/", mfa.TurnOffApp.as_view(), name="mfa_deactivate_totp"),
    path("recovery-codes/", mfa.redirect_if_unreadable(view_recovery_codes), name="mfa_view_recovery_codes"),
    path(
        "recovery-codes/download/",
        mfa.redirect_if_unreadable(download_recovery_codes),
        name="mfa_download_recovery_codes",
    ),
    path("recovery-codes/generate/", mfa.NewRecoveryCodes.as_view(), name="mfa_generate_recovery_codes"),
    path("webauthn/", RedirectView.as_view(pattern_name="mfa_index"), name="mfa_list_webauthn"),
    path("webauthn/add/", mfa.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path("webauthn/keys/<int:pk>/edit/", mfa.RenamePasskey.as_view(), name="mfa_edit_webauthn"),
    path("webauthn/keys/<int:pk>/remove/", mfa.RemovePasskey.as_view(), name="mfa_remove_webauthn"),
    path("webauthn/login/", mfa.SignInByPasskey.as_view(), name="mfa_login_webauthn"),
    path("webauthn/reauthenticate/", mfa.ReauthenticateByPasskey.as_view(), name="mfa_reauthenticate_webauthn"),
]
