"""People's accounts, their addresses, invitations, and memberships."""
