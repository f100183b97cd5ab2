"""The widget page: snippet, sites, appearance, shopper secret."""
