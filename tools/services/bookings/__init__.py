"""The booking book: resources, opening hours, free times and bookings."""
