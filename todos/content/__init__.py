"""The content of a todo: its plan, type, recipients and versions, and the snapshot that an approval is bound to."""
