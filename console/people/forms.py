"""Forms for members, keys, onboarding and invitations, with their error messages."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, cast

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext

from projects.accounts.accounts import ADDRESS_ERRORS
from projects.agents.templates_catalogue import NAMES, OTHER, Locale
from projects.common.places import country_names, zone_groups
from projects.common.translation import lazy
from projects.models import Role, User
from projects.models.agent_config import refuse_control_characters
from projects.models.key import Scope

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
LONGEST_ABOUT = 2_000
LIFETIMES = {"": lazy("Never expires"), "30": lazy("30 days"), "90": lazy("90 days"), "365": lazy("1 year")}


class LineField(forms.CharField):
    """One line of text that can be seen."""

    def clean(self, value: object) -> str:
        text = super().clean(value)
        if CONTROL.search(text) or (text and not any(map(str.isprintable, text))):
            raise ValidationError(gettext("Use one line of printable characters."))
        return str(text)


class TextField(forms.CharField):
    """Text of several lines, whose ends browsers send as CRLF."""

    def to_python(self, value: object) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n").replace("\r", "\n")

    def clean(self, value: object) -> str:
        text = super().clean(value)
        try:
            refuse_control_characters(text)
        except ValueError as error:
            raise ValidationError(str(error)) from error
        return str(text)


class EmailField(forms.EmailField):
    """An e-mail address, lower-cased."""

    default_error_messages = {**ADDRESS_ERRORS}

    def clean(self, value: object) -> str:
        return str(super().clean(value)).lower()


class InvitationForm(forms.Form):
    """The invited address and its role."""

    email = EmailField(max_length=254)
    role = forms.ChoiceField(choices=Role.choices, error_messages={"invalid_choice": lazy("Choose a role.")})


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class KeyForm(forms.Form):
    """A new API key: name, scopes, expiry."""

    name = LineField(max_length=80, error_messages={"required": lazy("Enter a name, such as “Website”.")})
    scopes = forms.MultipleChoiceField(error_messages={"required": lazy("Choose at least one scope.")})
    lifetime = forms.ChoiceField(choices=list(LIFETIMES.items()), required=False)

    def __init__(self, *args: Any, granted: Collection[str], **kwargs: Any) -> None:
        """`granted` are the scopes that the member may give to a key."""
        super().__init__(*args, **kwargs)
        self.scope_choices = [(scope.value, scope.label) for scope in Scope if scope in granted]
        cast(forms.MultipleChoiceField, self.fields["scopes"]).choices = self.scope_choices

    @property
    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["lifetime"]
        return timezone.now() + timedelta(days=int(days)) if days else None


class WelcomeForm(forms.Form):
    """The new user's business. `about` is what it does, if no template fits. The browser proposes time zone and region."""

    name = LineField(
        max_length=120,
        error_messages={
            "required": lazy("Enter your business name."),
            "max_length": lazy("Use at most 120 characters."),
        },
    )
    starter = forms.ChoiceField(
        choices=[(name, name) for name in NAMES],
        error_messages={
            "required": lazy("Choose a template. You can change everything later."),
            "invalid_choice": lazy("Choose one of these templates."),
        },
    )
    about = TextField(
        required=False,
        max_length=LONGEST_ABOUT,
        error_messages={"max_length": lazy("Use at most %(limit_value)d characters.")},
    )
    timezone = forms.ChoiceField(
        choices=zone_groups,
        error_messages={
            "required": lazy("Choose a time zone."),
            "invalid_choice": lazy("Choose one of these time zones."),
        },
    )
    region = forms.ChoiceField(
        choices=[*country_names().items()],
        error_messages={
            "required": lazy("Choose a country."),
            "invalid_choice": lazy("Choose one of these countries."),
        },
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("starter") == OTHER and not cleaned.get("about") and "about" not in self.errors:
            self.add_error("about", gettext("Describe your business in a sentence or two."))
        return cleaned

    @property
    def about_business(self) -> str:
        """The description, if the template asks for one."""
        return str(self.cleaned_data["about"]) if self.cleaned_data["starter"] == OTHER else ""

    @property
    def locale(self) -> Locale:
        return Locale(timezone=self.cleaned_data["timezone"], region=self.cleaned_data["region"])


class NameForm(forms.Form):
    """The user's display name."""

    name = LineField(max_length=150, required=False)


class JoinForm(forms.Form):
    """Sign-up for an invited address."""

    name = LineField(max_length=150, error_messages={"required": lazy("Enter your name.")})
    password = forms.CharField(strip=False, max_length=1000, error_messages={"required": lazy("Enter a password.")})

    def __init__(self, *args: object, email: str) -> None:
        super().__init__(*args)  # type: ignore[arg-type]  # the data of the request, or nothing
        self.email = email

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self.email, first_name=self.cleaned_data.get("name", "")))
        return password
