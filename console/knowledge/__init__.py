"""The knowledge base: list and search, editor, public article."""
