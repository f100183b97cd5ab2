"""Message channels: an adapter for each service, and the outbox if none is connected."""
