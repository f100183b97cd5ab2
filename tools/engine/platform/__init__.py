"""The platform's own words for the tools that models call: stored rows if there is any, else the code's (F01-F05, D10)."""

from tools.engine.platform.stored import (
    StoredDefinition,
    forget_definitions,
    interpolate,
    notice_definitions,
    stored_definitions,
)

__all__ = ["StoredDefinition", "forget_definitions", "interpolate", "notice_definitions", "stored_definitions"]
