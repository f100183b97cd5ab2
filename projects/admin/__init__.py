"""The Django admin: organizations, their members, projects, settings and keys."""

from projects.admin import pages

__all__ = ["pages"]
