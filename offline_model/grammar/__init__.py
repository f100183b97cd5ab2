"""English clauses, read far enough to tell a commitment from everything that only looks like one."""
