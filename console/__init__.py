"""The pages of staff."""
