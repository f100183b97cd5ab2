"""The API of todos, their types and standing rules."""
