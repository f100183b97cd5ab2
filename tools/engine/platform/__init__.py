"""The platform's definitions of tools that models call: stored rows if there are any, otherwise the code's."""

from tools.engine.platform.stored import (
    StoredDefinition,
    interpolate,
    invalidate_definitions,
    invalidate_if_changed,
    stored_definitions,
)

__all__ = ["StoredDefinition", "interpolate", "invalidate_definitions", "invalidate_if_changed", "stored_definitions"]
