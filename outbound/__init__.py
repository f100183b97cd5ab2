"""The guarded HTTP client for URLs that a tenant chose: webhooks, integrations, model endpoints."""
