"""The agent's configuration pages."""
