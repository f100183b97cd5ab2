"""The staff console."""
