"""The home page: figures, charts, first steps, and what needs attention."""
