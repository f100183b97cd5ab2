"""Forms of the admin that differ from their model.

They have no Meta, because the admin sets the fields per request. At import no tenant is known, so a reference would
have no choices.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext

from projects.accounts.members import MemberRefused, check_change, check_new_role, find_newcomer
from projects.api.parsers import parse_value
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models import Attribute, Role, User
from projects.models.attribute import AttributeType
from projects.models.key import Scope
from projects.models.permissions import VERBS
from projects.records.attributes import COMPUTED, WrongValue, checked


class OrganizationForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """A new tenant and its owner."""

    owner = forms.EmailField(help_text=lazy("The e-mail of someone who has an account."))

    def clean_owner(self) -> User:
        user = User.objects.filter(email__iexact=self.cleaned_data["owner"], is_active=True).first()
        if user is None:
            raise forms.ValidationError(gettext("No account has this e-mail. Add the user first."))
        return user


class MemberForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """A change of role. `by` is the role of the person making it."""

    by: ClassVar[Role]

    def clean_role(self) -> Role:
        role = Role(self.cleaned_data["role"])
        try:
            self.check(role)
        except MemberRefused as error:
            raise forms.ValidationError(error.message) from error
        return role

    def check(self, role: Role) -> None:
        """Check the new role. Raises MemberRefused."""
        check_change(self.instance, role=role, by=self.by)


class NewMemberForm(MemberForm):
    email = forms.EmailField(label="e-mail", help_text=lazy("The e-mail of someone who has an account."))

    def clean_email(self) -> User:
        try:
            return find_newcomer(self.cleaned_data["email"])
        except MemberRefused as error:
            raise forms.ValidationError(error.message) from error

    def check(self, role: Role) -> None:
        check_new_role(role, by=self.by)


class ApiKeyForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """A key. `by` is the role of the person making or changing it, who gives it no scope beyond their own."""

    by: ClassVar[Role]
    scopes = forms.MultipleChoiceField(choices=Scope.choices, widget=forms.CheckboxSelectMultiple)

    def clean_scopes(self) -> list[str]:
        chosen: list[str] = self.cleaned_data["scopes"]
        if {*chosen} - {*(self.instance.scopes or ())} - VERBS[self.by]:
            raise forms.ValidationError(gettext("Only owners can give a key the scope “owner”."))
        return chosen


class AttributeForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no such type at run time
    """One text field for a value of any type. A secret is never shown, and is kept if the field is left empty."""

    text = forms.CharField(
        label="value",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "autocomplete": "off"}),
        help_text=lazy("Secrets are not shown. Enter a new one, or leave this empty to keep it."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.setdefault("text", _as_text(self.instance))
        self.keeps_secret = False

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        key, kind = data.get("key", self.instance.key), data.get("type")
        if self.instance._state.adding and _exists(data.get("project"), key=key):
            self.add_error("key", gettext("An attribute with this name already exists. Change that one."))
        if key in COMPUTED:
            self.add_error("key", gettext("This attribute is computed from other data. Change that data instead."))
        if kind:
            self._clean_value(key, text=data.get("text", ""), kind=AttributeType(kind))
        return data

    def _clean_value(self, key: str, *, text: str, kind: AttributeType) -> None:
        if kind is AttributeType.SECRET and not text:
            self.keeps_secret = bool(self.instance.secret)
            if not self.keeps_secret:
                self.add_error("text", gettext("Enter the secret."))
            return
        try:
            self.cleaned_data["value"] = checked(key, parse_value(text) if kind is AttributeType.JSON else text, kind)
        except ApiError as error:
            self.add_error("text", gettext("This isn’t valid JSON. %(message)s") % {"message": error.message})
        except WrongValue as error:
            self.add_error("text", str(error))


def _exists(project: Any, *, key: str) -> bool:
    return Attribute.objects.filter(project=project, key=key).exists()


def _as_text(row: Attribute) -> str:
    if row.type == AttributeType.SECRET or row.value is None:
        return ""
    return row.value if isinstance(row.value, str) else json.dumps(row.value, ensure_ascii=False, indent=2)
