"""Phone calls over Twilio's ConversationRelay: Twilio turns speech into text and our text into speech."""
