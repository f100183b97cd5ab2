"""Live calls whose voice runs elsewhere: what it reports, the turns that come of it, and what its model is told meanwhile (T28)."""
