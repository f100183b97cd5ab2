"""Web Push: messages to the browsers of a member who has no page open."""
