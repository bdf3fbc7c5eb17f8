"""Documents: JSON as nodes that know their place in the file, and the table of the kinds that a document can hold."""
