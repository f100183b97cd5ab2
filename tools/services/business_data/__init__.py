"""Business data that tools check: products and served zip codes."""
