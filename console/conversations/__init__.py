"""The list of conversations, one conversation, and its customer."""
