"""The pages that configure the agent."""
