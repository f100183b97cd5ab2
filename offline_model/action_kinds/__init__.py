"""What a clause is about: which of the known kinds of action its verb and words name."""
