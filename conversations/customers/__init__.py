"""Customers as a whole: what belongs to one, and the merge of two."""
