"""Files as bytes: read within limits, written whole or not at all; and the parser of JSON text."""
