"""The day's bookings, one booking, and the resources."""
