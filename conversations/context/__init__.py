"""What a flow knows of a conversation: the turn's context, the transcript, the summary."""
