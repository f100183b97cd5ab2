"""New businesses begin with what they need to book."""

from __future__ import annotations

import pytest
from django.db import transaction

from projects.agents.templates_catalogue import NAMES, Locale, business_templates, start_business
from projects.models import User
from projects.models.seeds import plant_seeds
from projects.records.attributes import is_on, resolve_attributes
from tenancy.scope import tenant_tx
from tests.tools.bookings.conftest import Desk
from tools.models import Resource

HERE = Locale(timezone="Europe/Rome", region="IT")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("_schema")
def test_a_starter_that_books_has_something_to_book(name: str) -> None:
    with transaction.atomic():
        owner = User.objects.create_user(f"{name}@seeds.example")
        project = start_business("Da Nello", starter=business_templates()[name], owner=owner, locale=HERE)
        with tenant_tx(project.organization_id):
            books = is_on(resolve_attributes(project), "project_attributes_setting_booking_enabled")
            assert Resource.objects.filter(project=project).exists() or not books


def test_a_book_that_has_resources_is_left_as_it_is(desk: Desk) -> None:
    with desk.tenant.tx():
        plant_seeds(desk.project, {"resources": [{"name": "Another"}]})
        assert not Resource.objects.filter(name="Another").exists()


def test_a_section_that_no_app_knows_is_a_mistake(desk: Desk) -> None:
    with desk.tenant.tx(), pytest.raises(KeyError):
        plant_seeds(desk.project, {"boats": []})
