"""Replays of earlier turns, and dry runs of the agent."""
