"""Live streams of conversations. Redis delivers the events; PostgreSQL is the source of truth."""
