"""Messengers: what their providers deliver, what goes out to them, and how far it came. One module per provider."""
