"""The page that connects a project's integrations."""
