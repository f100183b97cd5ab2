"""Encrypted backups of the whole database, and their restore into an empty place."""
