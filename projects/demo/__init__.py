"""The businesses of the demo organization: a restaurant, and a web shop with the widget on its page."""
