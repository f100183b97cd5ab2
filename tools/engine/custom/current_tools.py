"""A project's custom tools, loaded for each turn."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pydantic import ValidationError

from tenancy.prepared_queries import PreparedQuery
from tools.engine.definition import ToolDefinition
from tools.models import CustomTool

log = logging.getLogger(__name__)

ROWS = PreparedQuery(
    lambda project: CustomTool.objects.filter(project_id=project, is_removed=False).order_by("name"), kinds=(UUID,)
)
CACHE_SIZE = 2048

_parsed: OrderedDict[tuple[UUID, datetime], ToolDefinition] = OrderedDict()


@dataclass(frozen=True)
class CurrentTool:
    """A custom tool as the catalogue uses it. Version 0 is an unsaved draft."""

    name: str
    definition: ToolDefinition
    version: int = 0
    is_enabled: bool = True


def load_current_tools(project_id: UUID) -> list[CurrentTool]:
    """The project's custom tools by name, switched on or off. One query; each version is parsed once."""
    return [tool for row in ROWS(project_id) if (tool := _current_tool(row))]


def _current_tool(row: CustomTool) -> CurrentTool | None:
    try:
        definition = _definition_of(row)
    except ValidationError:
        # Saved by an earlier release with different rules; the editor shows the owner what is wrong.
        log.warning("The custom tool %s, version %s, can't be read and is left out.", row.pk, row.version)
        return None
    return CurrentTool(row.name, definition, version=row.version, is_enabled=row.is_enabled)


def _definition_of(row: CustomTool) -> ToolDefinition:
    """The parsed definition, from a small cache. Raises pydantic.ValidationError.

    The cache key includes `updated_at` because a rolled-back version number is used again.
    """
    key = row.pk, row.updated_at
    definition = _parsed.get(key)
    if definition is None:
        definition = _parsed[key] = ToolDefinition.model_validate(row.definition)
        if len(_parsed) > CACHE_SIZE:
            _parsed.popitem(last=False)
    return definition
