"""What tools send by: one adapter for each service, behind one interface, and the outbox where none is connected."""
