"""Accounts, e-mail addresses, invitations and memberships."""
