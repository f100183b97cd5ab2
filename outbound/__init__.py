"""The one guarded door for HTTP requests whose target a tenant chose: webhooks, integrations, model endpoints."""
