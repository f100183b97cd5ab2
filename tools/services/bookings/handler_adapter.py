"""Adapter for tool handlers that work on our own rows: one tenant transaction, and every refusal as an outcome."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from projects.common.api_error import Conflict
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import Execute, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.bookings.refusals import InvalidTime

LONGEST = 2000


class Arguments(BaseModel):
    """Base of the arguments that a model reads off the conversation. Missing values are None. Texts are trimmed to one
    line without control characters.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    @field_validator("*", mode="before")
    @classmethod
    def tidy(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        visible = "".join(" " if unicodedata.category(one) in ("Cc", "Cs") else one for one in value[:LONGEST])
        return " ".join(visible.split()) or None


A = TypeVar("A", bound=Arguments)
# The body of a handler. It runs in the transaction, and raises its refusals.
HandlerBody = Callable[[Project, A, ToolContext], Outcome]


def transactional_handler(model: type[A], body: HandlerBody[A]) -> Execute:
    """Return an `execute` that runs the body in a tenant transaction. Conflict and InvalidTime become failed outcomes."""

    async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
        return await in_db(_run, arguments, context)

    def _run(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
        try:
            validated = model.model_validate(dict(arguments))
            with tenant_tx(context.organization_id):
                project = Project.objects.select_related("agent_version").get(pk=context.project_id)
                return body(project, validated, context)
        except ValidationError as error:
            return refused(f"The arguments don't fit: {_first(error)}.")
        except Conflict as error:
            return refused(error.message)
        except InvalidTime as error:
            return refused(str(error))

    return execute


def refused(sentence: str, *, result: Mapping[str, Any] | None = None) -> Outcome:
    """Return a failed outcome whose sentence the agent reads."""
    return Outcome.failed(sentence, told=sentence, result=result or {})


def _first(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    path = ".".join(str(step) for step in problem["loc"])
    return f"{path}: {problem['msg']}" if path else problem["msg"]
