"""Bookings by day, a single booking, resources, and the customer's booking page."""
