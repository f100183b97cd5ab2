"""Tools at work: inside the turn, and as effects after it."""
