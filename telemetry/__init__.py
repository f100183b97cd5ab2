"""Metrics, traces and the identity of the running work. Plain Python, so that every room can use it."""
