"""Event subscriptions: who receives the events that tools send."""
