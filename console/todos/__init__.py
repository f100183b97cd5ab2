"""Pages for todos: board, list, detail panel, forms, standing rules and todo types."""
