"""What a tool's owner may write: each mistake with its path in the JSON, and a sentence that says what would be right."""
