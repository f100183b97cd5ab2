"""PostgreSQL as Django knows it, with one step less: a transaction learns its tenant while it begins."""
