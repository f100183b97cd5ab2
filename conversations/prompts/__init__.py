"""Model requests, one module per skill."""
