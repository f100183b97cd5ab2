"""The built-in tools, each a module of its own with a `TOOL`. Deleting a tool is deleting its file.

`base` says what a tool states, `gates` what several of them stand behind.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from tools.builtin.base import BuiltinTool

NO_TOOLS = frozenset({"base", "gates"})


@cache
def builtin_tools() -> dict[str, BuiltinTool]:
    """All built-in tools by name."""
    names = (module.name for module in pkgutil.iter_modules(__path__) if module.name not in NO_TOOLS)
    tools = (import_module(f"{__name__}.{name}").TOOL for name in names)
    return {tool.name: tool for tool in tools}
