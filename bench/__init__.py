"""What a turn costs: one command, `python -m bench`, writes JSON, a plot and the table of docs/performance.md."""
