"""Messages the agent sends on its own, and the rules that hold them back."""
