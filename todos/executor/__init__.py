"""The executor of approved todos: frozen calls run as approved, other todos step by step with a model."""
