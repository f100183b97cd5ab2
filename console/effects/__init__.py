"""Pages for effects: list, detail and unknown outcomes."""
