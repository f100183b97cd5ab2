"""The customer portal: past conversations, bookings, and a chat on the channel `portal`."""
