"""Caller lookup in the business's own records."""
