"""Pages for requests for a person and for tickets."""
