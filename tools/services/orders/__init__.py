"""Orders of a signed-in shopper, looked up in the project's own shop."""
