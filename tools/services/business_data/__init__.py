"""What the business offers, and where: the project's own data, read by the tools that check it (N29, N30)."""
