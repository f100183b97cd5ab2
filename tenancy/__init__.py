"""Tenant isolation, and the SQL layer that makes it affordable.

Isolation
---------

Every row of a customer belongs to an organization. Three mechanisms keep organizations apart, and each one works without
the others:

1. Scoped managers (`tenant_models`) filter by the current organization and raise NoTenant without one.
2. Composite foreign keys (`rls.tenant_table`) contain the organization, so a row can't refer to another tenant's row.
3. Row-level security, forced on every tenant table, compares with a setting that lasts for one transaction.

`scope.tenant_tx` opens a tenant's transaction and is the way to reach its rows. The product runs as `mg_app`, which owns
no table. `mg_ops` sees all tenants; it claims jobs, looks up the tenant of a key or token (`tenant_lookup`), and serves
superusers in the admin. `roles` creates the roles.

SQL layer
---------

A turn of a conversation runs many statements. Django compiles each query to SQL again, and psycopg adapts each value
again, which costs several times as much as the statement itself. With plain ORM calls in place of this layer, a turn took
about four times the CPU. The layer keeps Django's models and migrations and replaces three steps:

- `prepared_queries` compiles a queryset once; later runs pass new values and still return model instances.
- `write_batch` combines inserts and updates into one statement.
- `postgresql`, the database backend, sets the tenant in the message that begins the transaction, and runs statements
  that the connection has prepared.

Use it for reads and writes of a turn. Pages, admin and settings use the ORM, inside `tenant_tx`.

`threads` runs database work from the event loop in a few threads, each with its own connection.

Upgrading Django or psycopg
---------------------------

The layer uses parts of Django and psycopg that are not public: the SQL compiler (`as_sql`, `get_converters`,
`klass_info`, `get_related_populators`), hooks of the PostgreSQL backend (`_configure_connection`,
`_start_transaction_under_autocommit`, `_commit`, `_rollback`, `_savepoint_rollback`, `_set_autocommit`), and psycopg's
`PGconn` and `Transformer`. After an upgrade, run:

    bin/test tests/tenancy             # isolation of every table; every prepared query against the server; plans
    .venv/bin/python -m bench --quick  # CPU and latency of a turn

If a query breaks, replace its `prepared_queries` object with the queryset that it was built from: same rows, more CPU.
"""
