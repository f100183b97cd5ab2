"""Attributes of a project, and the audit log."""
