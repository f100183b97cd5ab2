"""The ledger's pages: effects, one effect, and unknown outcomes."""
