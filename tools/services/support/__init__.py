"""What customers bring to people: requests for a person, and tickets (W03, W06)."""
