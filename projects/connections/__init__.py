"""Integrations: a project's connections to external services."""
