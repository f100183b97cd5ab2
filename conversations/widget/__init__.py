"""The widget on a business's own pages: its doors, its visitors, its script, and the shop that shows it (design section 6).

`access`: from a public key and a page's origin to the tenant → `visitors`, `shopper`: who speaks → `views`, `live`: what they
may do → `customer`: what they get to see of it. The script's source stands in static/widget, `script` makes one file of it.
"""
