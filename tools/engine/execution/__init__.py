"""Execution of tools, the same for every tool, trigger and origin."""
