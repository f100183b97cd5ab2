"""Every screen of the product, with something on it: for tests and measurements that look at all of them."""
