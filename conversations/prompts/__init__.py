"""The requests to the model, one module per skill."""
