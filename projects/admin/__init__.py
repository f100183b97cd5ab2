"""The Django admin of organizations, members, projects, settings and keys."""

from projects.admin import pages

__all__ = ["pages"]
