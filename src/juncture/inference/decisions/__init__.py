"""Decision networks: optimal policies, expected utilities, and the value of information."""
