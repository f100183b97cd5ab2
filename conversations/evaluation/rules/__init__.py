"""Labeled pairs for the rules of the thoughts and reply prompts."""
