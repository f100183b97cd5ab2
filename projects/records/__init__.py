"""Attributes and the audit log."""
