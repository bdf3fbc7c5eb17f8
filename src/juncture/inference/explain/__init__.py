"""What findings and edges tell."""
