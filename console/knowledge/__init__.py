"""The knowledge base: the list with its search, the editor, and the public article."""
