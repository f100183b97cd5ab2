"""The Django admin of organizations, members, projects, settings and keys."""

from projects.admin import accounts, articles, organizations, projects

__all__ = ["accounts", "articles", "organizations", "projects"]
