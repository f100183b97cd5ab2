"""Calls with an external voice: its reports, the turns they create, and the updates for the voice model."""
