from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import datetime
from typing import Any

from conversations.context.turn_context import TurnContext, context_before
from conversations.models import Turn
from conversations.prompts.reply import build_prompt
from jobs.lanes import ClaimedJob
from projects.agents.services import save_agent
from projects.models.agent_config import AgentConfig
from tests.conftest import Tenant
from tests.conversations.conftest import Talk, begin, talk, worker
from tests.processes import ScriptedModel

__all__ = ["begin", "talk", "worker"]


def configure(tenant: Tenant, **changes: Any) -> AgentConfig:
    """Save the agent's settings with these changes."""
    with tenant.tx():
        tenant.project.refresh_from_db()
        document = {**tenant.project.agent_version.document, **changes}
        config = AgentConfig.model_validate(document)
        save_agent(tenant.project, config=config, author=None)
    return config


def job_of(turn: Turn, *, lane: str = "reply") -> ClaimedJob:
    """The turn's job as claimed by a worker."""
    return ClaimedJob(
        id=uuid.uuid4(),
        organization_id=turn.organization_id,
        lane=lane,
        subject_id=turn.conversation_id,
        ordinal=turn.seq,
        key="",
        token=1,
        attempt=1,
        max_attempts=5,
    )


def load_context(talk: Talk, turn: Turn, *, at: datetime | None = None) -> TurnContext:
    with talk.tenant.tx():
        context = context_before(job_of(turn))
    return replace(context, at=at) if at else context


def prompts_of(talk: Talk, turn: Turn, *, at: datetime | None = None) -> list[str]:
    """The messages of the reply request, stable prompt first, as of a given time."""
    with talk.tenant.tx():
        context = context_before(job_of(turn))
        request = build_prompt(replace(context, at=at) if at else context).request
    return [message["content"] for message in request.messages]


def last_prompt(model: ScriptedModel, skill: str) -> str:
    return str(model.requests(skill)[-1]["messages"][-1]["content"])
