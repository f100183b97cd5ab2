"""Creates one row in every tenant table, from the models' fields, so that new models are included automatically."""

from __future__ import annotations

import random
import uuid
from decimal import Decimal
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils import timezone

from conversations.models.archive import CompressedField
from projects.models import Organization, User
from tenancy.tenant_models import TenantModel
from tests.conftest import PASSWORD, Tenant
from tools.models import OperatorLimit

Rows = dict[type[models.Model], models.Model]


@cache
def tenant_models() -> list[type[TenantModel]]:
    """Every model with a field `organization`, whatever its base class."""
    found = (model for model in apps.get_models() if any(field.name == "organization" for field in model._meta.fields))
    return sorted(found, key=lambda model: model._meta.label)  # type: ignore[arg-type]


def fill_every_table(tenant: Tenant, mark: str) -> Rows:
    """Create a row of every tenant model, with `mark` in every text field."""
    made: Rows = {Organization: tenant.organization}
    made[User] = User.objects.create_user(f"{mark}@people.example", PASSWORD)
    with tenant.tx():
        while missing := [model for model in tenant_models() if model not in made]:
            ready = [model for model in missing if _parents(model) <= made.keys()]
            assert ready, f"These models need each other first: {missing}"
            for model in ready:
                made[model] = _make(model, made, mark)
    return made


def parent_of(field: Any) -> type[models.Model] | None:
    """The model that a field refers to.

    A UUID field such as `conversation_id` refers to a higher room without a ForeignKey.
    """
    if field.remote_field:
        return field.related_model  # type: ignore[no-any-return]
    return _named().get(field.name.removesuffix("_id")) if isinstance(field, models.UUIDField) else None


@cache
def _named() -> dict[str | None, type[models.Model]]:
    return {model._meta.model_name: model for model in tenant_models()}


@cache
def _parents(model: type[models.Model]) -> set[Any]:
    required = {parent_of(field) for field in model._meta.fields if not field.null}
    return required - {model, None}


def _make(model: type[models.Model], made: Rows, mark: str) -> models.Model:
    values = {field.name: _value(field, made, mark) for field in model._meta.fields if not field.primary_key}
    # The product may only read the operator's limits.
    rows = model._base_manager.using("ops") if model is OperatorLimit else model._default_manager
    row: models.Model = rows.create(**values)
    return row


def _value(field: Any, made: Rows, mark: str) -> Any:
    if parent := parent_of(field):
        row = made.get(parent)
        return row if row is None or field.remote_field else row.pk
    if field.null and not isinstance(field, models.JSONField | models.BinaryField):
        return None
    if isinstance(field, ArrayField):
        return [_value(field.base_field, made, mark)]
    if field.choices:
        return field.choices[0][0]
    if isinstance(field, models.CharField | models.TextField):
        return mark[: field.max_length]
    makers = {
        CompressedField: lambda: {"mark": mark},
        models.BinaryField: mark.encode,
        models.JSONField: lambda: {"mark": mark},
        models.UUIDField: uuid.uuid4,
        models.DateTimeField: timezone.now,
        models.DateField: lambda: timezone.now().date(),
        models.DecimalField: lambda: Decimal(random.randrange(100, 30_000)).scaleb(-field.decimal_places),
        models.BooleanField: lambda: False,
        models.IntegerField: lambda: _number(field),
    }
    return next(make() for kind, make in makers.items() if isinstance(field, kind))


def _number(field: models.IntegerField[Any, Any]) -> int:
    """A number that is unlikely to occur elsewhere, within the field's limits."""
    most = min(validator.limit_value for validator in field.validators if isinstance(validator, MaxValueValidator))
    return random.randrange(min(100, most), min(30_000, most) + 1)
