"""The page of the widget: the snippet, the sites, the look, and the shopper secret."""
