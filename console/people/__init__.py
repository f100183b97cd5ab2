"""Members, invitations, API keys, sign-up and sign-in."""
