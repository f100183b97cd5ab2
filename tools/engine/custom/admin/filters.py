"""Filters of the list of custom tools."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import ModelAdmin, SimpleListFilter
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext

from projects.common.translation import lazy, plazy
from tools.engine.definition import ActionType
from tools.models import CustomTool

ACTION_LABELS = {
    ActionType.SEND_WEBHOOK: lazy("Calls a webhook"),
    ActionType.SEND_URGENT_MESSAGE: lazy("Sends the agent a message"),
    ActionType.SEND_EVENT: lazy("Sends a system event"),
}


class StateFilter(SimpleListFilter):
    title = plazy("field", "state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [("on", gettext("On")), ("off", gettext("Off"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[CustomTool]) -> QuerySet[CustomTool]:
        return queryset.filter(is_enabled=self.value() == "on") if self.value() in ("on", "off") else queryset


class ActionFilter(SimpleListFilter):
    title = plazy("field", "action")
    parameter_name = "action_type"

    def lookups(self, request: HttpRequest, model_admin: ModelAdmin[Any]) -> list[tuple[str, str]]:
        return [(action.value, label) for action, label in ACTION_LABELS.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[CustomTool]) -> QuerySet[CustomTool]:
        chosen = self.value()
        return queryset.filter(definition__action__type=chosen) if chosen in ACTION_LABELS else queryset
