"""The engine: definitions, the catalogue, verdicts, execution, and the ledger."""
