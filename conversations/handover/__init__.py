"""Operators in a conversation, and customers who asked for one."""
