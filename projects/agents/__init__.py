"""A project's agent: settings, versions, models and prompt size."""
