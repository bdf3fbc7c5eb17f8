"""Models of sequences, each kind a folder that holds the whole of it."""
