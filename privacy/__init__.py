"""Export, erasure and retention of personal data, and the export and deletion of organizations."""
