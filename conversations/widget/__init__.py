"""The widget for a business's own site: endpoints, visitors, script, and the demo shop.

`authentication`: from a public key and a page's origin to the tenant → `visitors`, `shopper`: who is speaking →
`views`, `live`: the endpoints → `event_filter`: what a visitor may see. The script's source is in static/widget;
`bundle` builds one file from it.
"""
