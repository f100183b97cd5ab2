"""Everything that talks to a language model, and nothing else: no app and no database model is known here."""
