"""The registry of built-in tools."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from tools.engine.builtin_tool import BuiltinTool

_packages: list[str] = []


def register_tools(package: str) -> None:
    """Register a package whose modules each define a `TOOL`. Called once per package, when the apps are ready."""
    if package not in _packages:
        _packages.append(package)


@cache
def builtin_tools() -> dict[str, BuiltinTool]:
    """All built-in tools by name. The packages are imported on the first call."""
    modules = (import_module(name) for package in _packages for name in _modules_of(package))
    return {module.TOOL.name: module.TOOL for module in modules}


def _modules_of(package: str) -> list[str]:
    return [f"{package}.{module.name}" for module in pkgutil.iter_modules(import_module(package).__path__)]
