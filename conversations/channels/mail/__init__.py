"""E-mail: messages that arrive at a mailbox, by a provider's webhook or by IMAP, and the threads that answers belong to."""
