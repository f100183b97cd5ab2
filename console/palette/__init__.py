"""The command palette: pages, settings and actions of a member, and what a search finds."""
