"""One attempt at a call, outside of any transaction."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from tools.builtin import builtin_tools
from tools.execution.handler import Occasion
from tools.execution.outcome import Outcome

logger = logging.getLogger(__name__)


async def attempt_call(name: str, arguments: Mapping[str, Any], occasion: Occasion) -> Outcome:
    """What came of it. A tool that raises ends no turn and no call (L19)."""
    handler = builtin_tools()[name].handler
    if handler is None:
        return Outcome.failed("This tool can't be carried out.")
    try:
        return await handler.carry_out(arguments, occasion)
    except Exception as error:  # the edge to the tools: any bug of a handler becomes a result that model and staff see
        logger.exception("%s raised.", name)
        return Outcome.unknown(f"The tool broke off ({type(error).__name__}); whether it was done isn't known.")
