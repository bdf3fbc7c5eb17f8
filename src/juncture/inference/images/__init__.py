"""Images: flip noise, the field that removes it, and segmentation by a hidden Markov field."""
