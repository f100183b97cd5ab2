"""Custom tools: one service behind the admin, the API, the editor and the attribute."""
