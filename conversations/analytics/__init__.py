"""Figures of a project's conversations: their definitions, periods, counts and cache."""
