"""Downloads of everything about one customer, or of a whole organization, streamed as a ZIP file."""
