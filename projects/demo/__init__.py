"""The demo organization's businesses: a trattoria, and the web shop on whose page its widget is seen."""
