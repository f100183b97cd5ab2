"""Integrations of a project with other services."""
