"""The page of integrations."""
