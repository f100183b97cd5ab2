"""Client for language models that speak Chat Completions. Independent of the apps and their models."""
