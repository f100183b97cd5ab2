"""What people fill in, and what is said beside a field that can't be."""

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
LIFETIMES = {"": "Never", "30": "After 30 days", "90": "After 90 days", "365": "After a year"}


class LineField(forms.CharField):
    """One line of printable text."""

    def clean(self, value: object) -> str:
        text = super().clean(value)
        if CONTROL.search(text):
            raise ValidationError("Use letters, numbers and signs, in one line.")
        return str(text)


class EmailField(forms.EmailField):
    """An e-mail address, in lower case."""

    default_error_messages = {
        "required": "Write an e-mail address.",
        "invalid": "This is no e-mail address; write one like ada@example.com.",
    }

    def clean(self, value: object) -> str:
        return str(super().clean(value)).lower()


class InvitationForm(forms.Form):
    """Who is invited, and as what."""

    email = EmailField(max_length=254)
    role = forms.ChoiceField(choices=Role.choices, error_messages={"invalid_choice": "Choose one of the roles."})


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class KeyForm(forms.Form):
    """A new API key."""

    name = LineField(max_length=80, error_messages={"required": "Say what the key is for, such as “website”."})
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        error_messages={"required": "Choose at least one; a key without any opens nothing."},
    )
    lifetime = forms.ChoiceField(choices=list(LIFETIMES.items()), required=False)

    @property
    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["lifetime"]
        return timezone.now() + timedelta(days=int(days)) if days else None


class WelcomeForm(forms.Form):
    """The newcomer's business. Where it is comes from the browser, and is UTC and the US when that says nothing usable."""

    name = LineField(
        max_length=120,
        error_messages={
            "required": "Write the name that customers know.",
            "max_length": "Use at most 120 characters; the rest belongs to the description.",
        },
    )
    starter = forms.ChoiceField(
        choices=[(name, name) for name in NAMES],
        error_messages={
            "required": "Pick one; everything in it can be changed.",
            "invalid_choice": "Pick one of these.",
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
    """How a person is called."""

    name = LineField(max_length=150, required=False)


class JoinForm(forms.Form):
    """A new account for an invited address."""

    name = LineField(max_length=150, error_messages={"required": "Write your name, as colleagues know it."})
    password = forms.CharField(strip=False, max_length=1000, error_messages={"required": "Choose a password."})

    def __init__(self, *args: object, email: str) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # the data of the request, or nothing
        self.email = email

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self.email, first_name=self.cleaned_data.get("name", "")))
        return password
