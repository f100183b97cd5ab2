"""Input of the flows: the turn's context, the transcript and the summary."""
