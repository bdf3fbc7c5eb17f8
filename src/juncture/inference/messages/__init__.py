"""Messages between neighbours: sum-product and max-product."""
