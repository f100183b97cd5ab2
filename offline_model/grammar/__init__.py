"""English clause parser that separates commitments from offers, reports and conditions."""
