"""The customer's own page: what was said, what is booked, and a chat on the channel `portal` (D25)."""
