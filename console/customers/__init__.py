"""The People pages: customers, one customer with everything that is theirs, and the merge of two."""
