"""New projects start with the resources they need."""

from __future__ import annotations

import pytest
from django.db import transaction

from projects.agents.templates_catalogue import NAMES, Locale, business_templates, start_business
from projects.models import User
from projects.models.seeds import plant_seeds
from projects.records.attributes import is_on, resolve_attributes
from tenancy.scope import tenant_tx
from tests.tools.bookings.conftest import Bookings
from tools.models import Resource

HERE = Locale(timezone="Europe/Rome", region="IT")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("_schema")
def test_a_template_with_bookings_has_resources(name: str) -> None:
    with transaction.atomic():
        owner = User.objects.create_user(f"{name}@seeds.example")
        project = start_business("Da Nello", starter=business_templates()[name], owner=owner, locale=HERE)
        with tenant_tx(project.organization_id):
            books = is_on(resolve_attributes(project), "project_attributes_setting_booking_enabled")
            assert Resource.objects.filter(project=project).exists() or not books


def test_existing_resources_are_left_unchanged(bookings: Bookings) -> None:
    with bookings.tenant.tx():
        plant_seeds(bookings.project, {"resources": [{"name": "Another"}]})
        assert not Resource.objects.filter(name="Another").exists()


def test_an_unknown_section_is_an_error(bookings: Bookings) -> None:
    with bookings.tenant.tx(), pytest.raises(KeyError):
        plant_seeds(bookings.project, {"boats": []})
