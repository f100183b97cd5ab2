"""The bookings API: bookings, free times and resources."""
