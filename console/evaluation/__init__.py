"""The page of regression cases."""
