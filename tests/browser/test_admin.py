"""The stock admin in a real browser, under the strict policy: every kind of page, without a complaint of the console."""

from __future__ import annotations

import pytest
from django.contrib import admin
from playwright.sync_api import Page, expect

from projects.models import Attribute, Organization
from projects.tenant_admin import TenantAdmin
from tests.browser.conftest import App
from tests.conftest import Tenant

pytestmark = pytest.mark.browser


def enter(page: Page, app: App) -> None:
    """Through the one door, and on to where one was going."""
    page.goto(f"{app.base_url}/admin/")
    page.get_by_label("E-mail").fill(app.email)
    page.get_by_label("Password").fill(app.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#site-name")).to_contain_text("Makegood · Nello")


def test_every_list_and_form_keeps_the_policy(page: Page, app: App) -> None:
    enter(page, app)
    for model, part in admin.site._registry.items():
        if isinstance(part, TenantAdmin):
            address = f"{app.base_url}/admin/{model._meta.app_label}/{model._meta.model_name}/"
            page.goto(address)
            expect(page.locator("#changelist")).to_be_visible()
            if part.addable and model is not Organization:
                page.goto(f"{address}add/")
                expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()


def test_an_attribute_is_changed_in_its_form(page: Page, app: App, tenant: Tenant) -> None:
    enter(page, app)
    page.goto(f"{app.base_url}/admin/projects/attribute/add/")
    page.get_by_label("Key").fill("greeting")
    page.get_by_label("Type").select_option("str")
    page.get_by_label("value").fill("Buonasera")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".messagelist")).to_contain_text("was added successfully")
    with tenant.tx():
        assert Attribute.objects.get(key="greeting").value == "Buonasera"
