"""The page for promises: list, kept rate and chart."""
