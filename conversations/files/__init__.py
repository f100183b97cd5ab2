"""The contents of files: in their rows, in a folder, or in an S3-compatible storage."""
