"""Todos: work that a person says yes to, and an agent with a few tools carries out, once (L09-L14, D15, D16, D23)."""
