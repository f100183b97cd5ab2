"""Support: escalations to a person, and tickets."""
