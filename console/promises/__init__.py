"""The list of promises and its figures."""
