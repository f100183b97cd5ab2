"""The platform's definitions of tools that models call: stored rows if there are any, otherwise the code's."""

from tools.engine.platform.stored import (
    StoredDefinition,
    forget_definitions,
    interpolate,
    notice_definitions,
    stored_definitions,
)

__all__ = ["StoredDefinition", "forget_definitions", "interpolate", "notice_definitions", "stored_definitions"]
