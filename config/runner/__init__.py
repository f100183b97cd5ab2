"""What `bin/serve` and `bin/test` run: PostgreSQL, Redis and our own processes, started, watched and stopped.

Nothing in here knows Django's settings or models; the runner prepares the environment that they read.
"""
