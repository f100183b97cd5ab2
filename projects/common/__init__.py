"""Helpers that the rooms of projects share."""
