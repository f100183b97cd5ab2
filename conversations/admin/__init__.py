"""Admin pages for customers and conversations."""

from conversations.admin import channels, customers, transcripts

__all__ = ["channels", "customers", "transcripts"]
