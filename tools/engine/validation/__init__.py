"""Validation of tool definitions: each problem has its path in the JSON and a sentence on how to correct it."""
