"""One law of the observation per hidden state; `as_emissions` makes them of whatever users give."""
