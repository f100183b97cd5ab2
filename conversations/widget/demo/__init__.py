"""The demo's shop: a page that shows what the widget can do, and the orders that its agent looks up."""
