"""Knowledge base: articles, search, and the pages on which customers read them.

`services` writes articles, `indexing` maintains their words, `search` finds them, `passages` extracts the relevant
part.
"""
