"""The pages of the knowledge base: the list with its search, the editor, and what customers read."""
