"""Settings and theme of the widget."""
