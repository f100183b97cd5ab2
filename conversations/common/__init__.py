"""Queries, payloads and wording shared by the rooms of conversations."""
