"""The runner behind `bin/serve` and `bin/test`: installs, starts, supervises and stops everything that Makegood needs.

It doesn't use Django's settings or models. It prepares the environment variables that the settings read.
"""
