"""The walls between organizations, and the SQL beneath them.

Every query runs for one organization: the scoped managers raise without one, composite foreign keys refuse another one's rows,
and PostgreSQL's row-level security stands behind both. The hot path uses Django's ORM through prepared queries and write
batches, and a PostgreSQL backend that sets the tenant in the statement that begins a transaction. Plain ORM calls in their
place cost about four times the CPU per turn when we tried them.

When Django is raised to a new release, run `bin/test tests/tenancy`: they compare the prepared queries with
the ORM's own, and count the statements of a turn.
"""
