"""The tools that a project defined itself, as they stand, read for each turn."""

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
KEPT = 2048

_parsed: OrderedDict[tuple[UUID, datetime], ToolDefinition] = OrderedDict()


@dataclass(frozen=True)
class StandingTool:
    """A project's own tool as the catalogue needs it. A draft that was never saved is version 0."""

    name: str
    definition: ToolDefinition
    version: int = 0
    is_enabled: bool = True


def standing_tools(project_id: UUID) -> list[StandingTool]:
    """The project's own tools by name, switched on or off. One query; a definition is read once for each version."""
    return [tool for row in ROWS(project_id) if (tool := _standing(row))]


def _standing(row: CustomTool) -> StandingTool | None:
    try:
        definition = _definition_of(row)
    except ValidationError:
        # It passed the checks of an earlier release; its owner sees why it doesn't pass these.
        log.warning("The custom tool %s, version %s, can't be read and is left out.", row.pk, row.version)
        return None
    return StandingTool(row.name, definition, version=row.version, is_enabled=row.is_enabled)


def _definition_of(row: CustomTool) -> ToolDefinition:
    """The definition as it was last saved, from a small cache. A version's number alone would not do: one that was rolled
    back is given again. Raises pydantic.ValidationError.
    """
    key = row.pk, row.updated_at
    definition = _parsed.get(key)
    if definition is None:
        definition = _parsed[key] = ToolDefinition.model_validate(row.definition)
        if len(_parsed) > KEPT:
            _parsed.popitem(last=False)
    return definition
