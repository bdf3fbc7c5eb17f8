"""What all engines share: beliefs, impossible evidence, relevance, memory limits, display."""
