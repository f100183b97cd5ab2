"""The project's CalDAV calendar: reading busy times, and writing our bookings."""
