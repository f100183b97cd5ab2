"""The state of the installation, for its operator: the page of superusers and `manage.py doctor`."""
