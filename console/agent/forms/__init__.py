"""The sections of the agent's settings: each reads a posted form into fields of the document, and shows them."""
