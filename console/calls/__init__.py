"""The page of phone calls."""
