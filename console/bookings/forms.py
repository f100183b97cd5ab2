"""Forms for bookings and resources."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from uuid import UUID

from django import forms
from django.utils.translation import gettext

from projects.common.phones import InvalidPhone, read_phone
from projects.common.translation import lazy
from tools.models import Resource, ResourceKind
from tools.services.bookings.opening import Opening
from tools.services.bookings.resources import LARGEST, LONGEST_SLOT, SHORTEST_SLOT
from tools.services.bookings.services import Guest

SKIPPED = lazy("This time doesn’t exist on that day (clocks change). Choose another.")


class WhenForm(forms.Form):
    """Day, time, party size and resource."""

    date = forms.DateField(
        error_messages={"required": lazy("Choose a day."), "invalid": lazy("Enter a date like 2026-11-27.")}
    )
    time = forms.TimeField(
        error_messages={"required": lazy("Choose a time."), "invalid": lazy("Enter a time like 19:00.")}
    )
    party_size = forms.IntegerField(
        min_value=1,
        max_value=LARGEST,
        error_messages={"required": lazy("Enter the number of people."), "invalid": lazy("Enter a number.")},
    )
    resource = forms.ChoiceField(required=False)

    def __init__(self, *args: object, opening: Opening, resources: Sequence[Resource], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # passed on as they are
        self._opening = opening
        choice = self.fields["resource"]
        if isinstance(choice, forms.ChoiceField):
            choice.choices = [("", gettext("Smallest available")), *((str(one.pk), _label(one)) for one in resources)]

    def clean(self) -> dict[str, object]:
        data = super().clean() or {}
        if "date" in data and "time" in data and self._moment() is None:
            self.add_error("time", SKIPPED)
        return data

    @property
    def starts_at(self) -> datetime:
        moment = self._moment()
        if moment is None:
            raise LookupError(SKIPPED)
        return moment

    @property
    def resource_id(self) -> UUID | None:
        chosen: str = self.cleaned_data["resource"]
        return UUID(chosen) if chosen else None

    def _moment(self) -> datetime | None:
        day: date = self.cleaned_data["date"]
        return self._opening.moment(datetime.combine(day, self.cleaned_data["time"]))


class BookingForm(WhenForm):
    name = forms.CharField(max_length=200, required=False)
    phone = forms.CharField(max_length=40, required=False)
    email = forms.EmailField(max_length=254, required=False)
    notes = forms.CharField(max_length=2000, required=False)

    def clean_phone(self) -> str:
        phone: str = self.cleaned_data["phone"]
        try:
            return read_phone(phone, region=self._opening.config.region) if phone else ""
        except InvalidPhone as refusal:
            raise forms.ValidationError(refusal.sentence) from refusal

    @property
    def guest(self) -> Guest:
        data = self.cleaned_data
        return Guest(name=data["name"], phone=data["phone"], email=data["email"])


class ResourceForm(forms.Form):
    """A new or existing resource."""

    name = forms.CharField(max_length=120, error_messages={"required": lazy("Enter a name.")})
    kind = forms.ChoiceField(choices=ResourceKind.choices)
    capacity = forms.IntegerField(min_value=1, max_value=LARGEST)
    slot_minutes = forms.IntegerField(min_value=SHORTEST_SLOT, max_value=LONGEST_SLOT)
    is_active = forms.BooleanField(required=False)

    @property
    def problem(self) -> str:
        """The first error, prefixed with the field's label."""
        field, errors = next(iter(self.errors.items()))
        return f"{LABELS.get(field, field)}: {errors[0]}"


class NewResourcesForm(ResourceForm):
    """One resource, or several numbered ones."""

    count = forms.IntegerField(min_value=1, max_value=50, initial=1)

    @property
    def names(self) -> list[str]:
        name, count = self.cleaned_data["name"], self.cleaned_data["count"]
        return [name] if count == 1 else [f"{name} {number}" for number in range(1, count + 1)]


LABELS = {
    "name": lazy("Name"),
    "kind": lazy("Kind"),
    "capacity": lazy("People"),
    "slot_minutes": lazy("Minutes"),
    "count": lazy("How many"),
}


def _label(resource: Resource) -> str:
    return f"{resource.name} ({resource.capacity})"
