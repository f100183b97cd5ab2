"""The admin names models and fields in the reader's language."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.db.models import Field
from django.urls import reverse
from django.utils.translation import override

from conversations.models import Delivery
from projects.admin.tenant_admin import TenantAdmin
from projects.common.admin_names import NAMES, spelled
from tenancy.personal_data import TableContents
from tests.conftest import Tenant
from tests.tenancy.conftest import browser


def test_every_model_and_field_of_ours_is_named_in_german() -> None:
    """Names of other libraries' models are theirs."""
    with override("de"):
        assert str(Delivery._meta.verbose_name_plural) == "Zustellungen"
        models = [model for model in admin.site._registry if not model.__module__.startswith("allauth")]
        fields = [field for model in models for field in model._meta.fields if isinstance(field, Field)]
        english = {str(field.verbose_name) for field in fields if " at" in str(field.verbose_name)[-3:]}
    assert english == set()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("api key", "API key"),
        ("api keys", "API keys"),
        ("calendar url", "calendar URL"),
        ("external ids", "external IDs"),
        ("follow ups", "follow-ups"),
        ("paid", "paid"),
        ("message ref", "message reference"),
        ("preference", "preference"),
    ],
)
def test_acronyms_are_capitals(name: str, expected: str) -> None:
    assert spelled(name) == expected


def test_a_list_has_columns_in_the_readers_language(tenant: Tenant) -> None:
    address = reverse("admin:projects_project_changelist")
    page = browser(tenant.owner).get(address, headers={"accept-language": "it"}).content.decode()
    assert "Progetti" in page
    assert "Nome" in page


def test_the_columns_that_name_rows_have_names_of_the_catalogs() -> None:
    pages = [page for page in admin.site._registry.values() if isinstance(page, TenantAdmin)]
    columns = [column for page in pages for column in page._references.values()]
    names = {name for _, name in NAMES}
    with override("en"):
        assert [column.column for column in columns if str(column.short_description) not in names] == []


def test_a_table_keeps_its_name_in_exports() -> None:
    with override("fr"):
        assert TableContents(Delivery, about="").name == "deliveries"
