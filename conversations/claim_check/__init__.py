"""Claims of something done, read off the agent's words and compared with the ledger."""
