"""Independent components, and factors with sparse or other non-Gaussian priors beneath noise."""
