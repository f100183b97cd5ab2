"""Who is calling, by the business's own records (L06, D17)."""
