"""Custom tools and their versions in the Django admin."""

from tools.engine.custom.admin import tools, versions

__all__ = ["tools", "versions"]
