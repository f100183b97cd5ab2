"""Tools that a model calls itself: what it is offered, how its calls are read, and what it is told of them (L02-L08, W01-W17)."""
