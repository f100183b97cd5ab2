"""The API of todos, their types and standing rules (design section 6)."""
