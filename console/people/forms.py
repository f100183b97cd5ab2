"""Forms for members, keys, onboarding and invitations, with their error messages."""

from __future__ import annotations

import re
import zoneinfo
from datetime import datetime, timedelta

import phonenumbers
from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone

from projects.agents.templates_catalogue import NAMES, Locale
from projects.models import Role, User
from projects.models.key import Scope

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
LIFETIMES = {"": "Never expires", "30": "30 days", "90": "90 days", "365": "1 year"}


class LineField(forms.CharField):
    """One line of printable text."""

    def clean(self, value: object) -> str:
        text = super().clean(value)
        if CONTROL.search(text):
            raise ValidationError("Use one line of printable characters.")
        return str(text)


class EmailField(forms.EmailField):
    """An e-mail address, lower-cased."""

    default_error_messages = {
        "required": "Enter an e-mail address.",
        "invalid": "Enter a valid e-mail address, like ada@example.com.",
    }

    def clean(self, value: object) -> str:
        return str(super().clean(value)).lower()


class InvitationForm(forms.Form):
    """The invited address and its role."""

    email = EmailField(max_length=254)
    role = forms.ChoiceField(choices=Role.choices, error_messages={"invalid_choice": "Choose a role."})


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class KeyForm(forms.Form):
    """A new API key: name, scopes, expiry."""

    name = LineField(max_length=80, error_messages={"required": "Enter a name, such as “Website”."})
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        error_messages={"required": "Choose at least one scope."},
    )
    lifetime = forms.ChoiceField(choices=list(LIFETIMES.items()), required=False)

    @property
    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["lifetime"]
        return timezone.now() + timedelta(days=int(days)) if days else None


class WelcomeForm(forms.Form):
    """The new user's business. Time zone and region come from the browser; the defaults are UTC and the US."""

    name = LineField(
        max_length=120,
        error_messages={
            "required": "Enter your business name.",
            "max_length": "Use at most 120 characters.",
        },
    )
    starter = forms.ChoiceField(
        choices=[(name, name) for name in NAMES],
        error_messages={
            "required": "Choose a template. You can change everything later.",
            "invalid_choice": "Choose one of these templates.",
        },
    )
    timezone = forms.CharField(required=False)
    region = forms.CharField(required=False)

    @property
    def locale(self) -> Locale:
        zone, region = self.cleaned_data["timezone"], self.cleaned_data["region"].upper()
        return Locale(
            timezone=zone if zone in zoneinfo.available_timezones() else "UTC",
            region=region if region in phonenumbers.SUPPORTED_REGIONS else "US",
        )


class NameForm(forms.Form):
    """The user's display name."""

    name = LineField(max_length=150, required=False)


class JoinForm(forms.Form):
    """Sign-up for an invited address."""

    name = LineField(max_length=150, error_messages={"required": "Enter your name."})
    password = forms.CharField(strip=False, max_length=1000, error_messages={"required": "Enter a password."})

    def __init__(self, *args: object, email: str) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # the data of the request, or nothing
        self.email = email

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self.email, first_name=self.cleaned_data.get("name", "")))
        return password
