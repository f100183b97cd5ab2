"""Todos: tasks that a person approves and an agent with a limited set of tools executes once."""
