"""A column that shows the name of a row in place of its id."""

from __future__ import annotations

from typing import Any

from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html

from projects.common.admin_names import reference_name


class Reference:
    """A display function of the admin. The id is shown if its row is gone."""

    def __init__(self, column: str, model: type[Model]) -> None:
        self.__name__ = column
        is_named_after_model = column == f"{model._meta.model_name}_id"
        self.short_description = model._meta.verbose_name if is_named_after_model else reference_name(column)
        self.column = column
        self.model = model

    def __call__(self, row: Any) -> Any:
        value = getattr(row, self.column)
        if value is None:
            return None
        found = self.model._default_manager.filter(pk=value).first()
        if found is None:
            return str(value)
        options = self.model._meta
        address = reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[value])
        return format_html('<a href="{}">{}</a>', address, found)
