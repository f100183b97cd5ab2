"""Promises: verdicts and their consequences, promises no tool can keep, and making broken ones good."""
