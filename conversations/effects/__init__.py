"""An effect's life inside its conversation: what it is read off, what the log, the promises, waits and the agent learn of it."""
