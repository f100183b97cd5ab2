"""Messages that the agent sends by itself, and what holds them back."""
