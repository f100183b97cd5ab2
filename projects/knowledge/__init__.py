"""The knowledge base of a project: its articles, how they are found, and where customers read them (W07, F10, L05).

`services` writes, `indexing` keeps the words that articles are found by, `search` finds, `passages` cuts out what answers.
"""
