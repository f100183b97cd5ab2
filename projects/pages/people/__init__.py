"""The pages of people: members, invitations, keys, signing up."""
