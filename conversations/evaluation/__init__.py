"""Dry runs of tools, and replays of earlier turns."""
