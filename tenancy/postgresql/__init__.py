"""Django's PostgreSQL backend, except that BEGIN also sets the tenant and statements are prepared by name."""
