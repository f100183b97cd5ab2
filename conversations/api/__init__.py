"""REST API of conversations: thin views over services."""
