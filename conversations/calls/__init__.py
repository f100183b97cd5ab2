"""Phone calls that Makegood answers itself: the webhook, the call's keeper, and the list of calls."""
