"""Customer verification: the levels none, basic and code, and the customers' proofs."""
