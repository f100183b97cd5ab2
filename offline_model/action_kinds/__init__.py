"""Classification of clauses by the kind of action they name."""
