"""Turns: posting a message, and what follows a reply."""
