"""One attempt at a call, outside of any transaction."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tools.engine.catalogue import CUSTOM
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.execution.run import execute
from tools.engine.execution.webhook import reply_of
from tools.engine.registry import builtin_tools
from tools.models import Effect

logger = logging.getLogger(__name__)

# The caller and the model are waiting; slower tools should run on a commitment or as a todo.
TIMEOUT_SECONDS = 5.0
TOOL_CRASHED = "The tool broke off by a fault of this server; whether it was done isn't known."


async def attempt_call(name: str, arguments: Mapping[str, Any], context: ToolContext, effect: Effect | None) -> Outcome:
    """Execute a call. An exception becomes an unknown outcome and never ends the turn or call.

    A custom tool executes its effect's request.
    """
    try:
        if effect is not None and effect.tool_origin == CUSTOM:
            return _with_answer(await execute(effect, context, within_seconds=TIMEOUT_SECONDS))
        handler = builtin_tools()[name].handler
        if handler is None:
            return Outcome.failed("This tool can't be carried out.")
        return await handler.execute(arguments, context)
    except Exception:  # the edge to the tools: any bug of a handler becomes a result that model and staff see
        logger.exception("%s raised.", name)
        return Outcome.unknown(TOOL_CRASHED)


def _with_answer(outcome: Outcome) -> Outcome:
    """Add the endpoint's answer to a refusal, so that the model can correct its call or tell the customer why."""
    if outcome.ending is not Ending.FAILED or not outcome.excerpt:
        return outcome
    return replace(outcome, told=f"{outcome.error} It answered: {reply_of(outcome.excerpt.encode()).told}")
