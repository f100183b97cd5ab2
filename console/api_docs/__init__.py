"""The reference of the API, made from its OpenAPI document."""
