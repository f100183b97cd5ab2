"""A project's own calendar on a CalDAV server: what is taken in it, and our bookings written to it (F07, F17, D24)."""
