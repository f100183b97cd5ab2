"""Members, invitations, keys, sign-up, and how people sign in."""
