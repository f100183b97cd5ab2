"""How long a project keeps its records, and the nightly deletion of older ones."""
