"""Turns: posting messages, and the work that follows a reply."""
