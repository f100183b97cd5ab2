"""The demo shop: a page that shows the widget, and the orders its agent looks up."""
