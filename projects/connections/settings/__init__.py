"""The settings of each type of connection: the fields, and the checks of their values."""
