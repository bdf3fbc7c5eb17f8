"""Structure from data: scores, independence tests, and the searches that use them."""
