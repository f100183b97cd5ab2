"""Sources of todos: extraction from conversations, and the todo types of a new project."""
