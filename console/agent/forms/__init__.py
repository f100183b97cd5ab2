"""One module per settings section: `read` parses the posted form, `show` builds the form's context."""
