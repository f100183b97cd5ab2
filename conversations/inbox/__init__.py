"""The inbox: tags, snoozing and closing of conversations, and what waits for staff."""
