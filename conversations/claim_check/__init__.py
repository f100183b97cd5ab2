"""Detection of claims in the agent's replies, and their comparison with the ledger of effects."""
