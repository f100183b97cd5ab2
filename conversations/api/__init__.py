"""The API of conversations: thin doors to services (design section 6)."""
