"""The pages of requests for a person, and of tickets."""
