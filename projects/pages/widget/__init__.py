"""The page of the widget: the snippet, the sites, the look, and the shop's secret."""
