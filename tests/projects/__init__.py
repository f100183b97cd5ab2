"""Tests of projects: hooks and the knowledge base."""
