"""The built-in tools, each a module of its own with a `TOOL`. To delete a tool, delete its file."""
