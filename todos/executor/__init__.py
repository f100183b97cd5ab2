"""Carrying out approved todos: frozen ones as they stand, the others step by step with a model (L09-L14, reliability 2.4)."""
