"""Preview of an unsaved definition for one project."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from projects.models import Project
from tenancy.scope import tenant_tx
from tools.engine.business_state import read_state
from tools.engine.catalogue import compile_builtin
from tools.engine.execution.schemas import NO_PARAMETERS
from tools.engine.function_calling.offer import AgentToolDefinition
from tools.engine.platform.stored import StoredDefinition
from tools.engine.registry import builtin_tools

CHANNELS = (("chat", "chat"), ("phone", "phone"), ("portal", "portal"), ("whatsapp", "whatsapp"), ("sms", "sms"))


@dataclass(frozen=True)
class Preview:
    """A tool as one project's model reads it; `why_not` is the reason why it isn't offered."""

    project: str
    channel: str
    why_not: str
    function: str
    section: str


def preview_of(name: str, words: StoredDefinition, project: Project, *, channel: str) -> Preview:
    """Compile the definition for a project, inside its tenant."""
    with tenant_tx(cast(UUID, project.organization_id)):
        own = Project.objects.select_related("agent_version").get(pk=project.pk)
        tool = compile_builtin(builtin_tools()[name], read_state(own, channel=channel), {name: words})
    definition = AgentToolDefinition(tool.name, tool.definition.description, tool.parameters or NO_PARAMETERS)
    function = json.dumps(definition.as_openai(), ensure_ascii=False, indent=2)
    return Preview(project.name, channel, tool.why_not, function, tool.section)
