"""The pages of the admin, read from its registry."""

from __future__ import annotations

import uuid

import pytest
from django.contrib import admin
from django.db import models
from django.urls import reverse

from projects.admin.tenant_admin import TenantAdmin
from projects.models import ApiKey, Attribute, Member, Project
from tests.tenancy.conftest import THEIRS, Filled
from tools.models import CustomTool, OperatorLimit

OWNED = [model for model, page in admin.site._registry.items() if isinstance(page, TenantAdmin)]
PLATFORM_ONLY = [model for model in admin.site._registry if model not in OWNED]
PAGES = ("change", "history", "delete")
DELETABLE = (Attribute, CustomTool, Member)
# Rows of the operator about a tenant, which only platform staff writes.
OF_OPERATOR = (OperatorLimit,)
ADDABLE = (Attribute, ApiKey, CustomTool, Member, Project)

by_model = pytest.mark.parametrize("model", OWNED, ids=lambda model: model._meta.label)


def address(model: type[models.Model], page: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def assert_nothing_of(other: Filled, text: str) -> None:
    ids = [str(row.pk) for row in other.rows.values() if isinstance(row.pk, uuid.UUID)]
    assert not [found for found in (THEIRS, other.tenant.project.slug, *ids) if found in text]
