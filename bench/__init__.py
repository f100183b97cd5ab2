"""Commands that measure the product and read its code. `python -m bench --help` lists them."""
