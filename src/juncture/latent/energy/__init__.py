"""Energy-based models with an energy of the user: exact on finite domains and on the line."""
