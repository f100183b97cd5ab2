"""The pages of an organization and its projects."""
