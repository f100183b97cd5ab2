"""Services behind the built-in tools."""
