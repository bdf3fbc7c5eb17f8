"""Files as bytes: read within limits, written whole or not at all; and JSON text that any document may be."""
