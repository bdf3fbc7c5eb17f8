"""Statistics: additive summaries of data."""
