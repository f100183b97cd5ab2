"""The pages of the book: the customer's own, behind a signed link, and those of staff."""
