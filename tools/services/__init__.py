"""Business services behind the tools: bookings, calendar, orders, messaging, verification and support."""
