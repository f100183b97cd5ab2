"""The export and the deletion of a whole organization."""
