"""What makes an effect the same thing as another (E6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tools.engine.definition import ActionType, RetryPolicy
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.repeats import repeat_key
from tools.engine.execution.run import definition_of
from tools.engine.execution.schemas import handler_of
from tools.models import Effect


def same_thing(effect: Effect, arguments: Mapping[str, Any], context: ToolContext) -> str:
    """The repeat key: the handler says what it is of a built-in tool's; of a webhook it is the request. Looking something
    up is never a repeat.
    """
    definition = definition_of(effect)
    if (handler := handler_of(effect.tool, definition)) is not None:
        return repeat_key(effect.kind, handler.repeat_of(arguments, context))
    if definition.action.type is ActionType.SEND_WEBHOOK and effect.delivery == RetryPolicy.ONCE:
        request = json.dumps([effect.tool, arguments], sort_keys=True, ensure_ascii=False)
        return repeat_key(effect.kind, request.casefold())
    return ""
