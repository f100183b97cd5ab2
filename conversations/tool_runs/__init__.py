"""Tool runs: calls during the turn, and effects after it."""
