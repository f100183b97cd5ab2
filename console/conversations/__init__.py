"""Pages for conversations: list, search, one conversation and its customer."""
