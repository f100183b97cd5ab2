"""The API's edge: who calls, what a body may hold, and the one shape of every error."""
