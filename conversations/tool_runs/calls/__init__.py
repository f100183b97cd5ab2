"""Tools that the model calls while it answers."""
