"""The integrations page."""
