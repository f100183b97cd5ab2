"""The live stream: what happens in a conversation, as it happens. Redis carries it, PostgreSQL is the truth."""
