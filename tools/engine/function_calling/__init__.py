"""Function calling: the tools offered to a model, its calls, and their results."""
