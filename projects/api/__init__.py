"""Foundations of the API: authentication, body limits, views, schema and the shape of errors."""
