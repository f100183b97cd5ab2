"""Requests for a person, and tickets."""
