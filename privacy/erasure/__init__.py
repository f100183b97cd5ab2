"""The erasure of one customer, by a job that goes on after a crash."""
