"""Who is talking to us: the levels none, basic and code of a project, and the proofs that customers have given (D14)."""
