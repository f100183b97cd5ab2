"""The inbox: conversations, requests for a person and tickets."""
