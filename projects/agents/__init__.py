"""The agent of a project: its settings, models, prompts' size, and versions."""
