"""What runs when exact inference is too large: approximations in turn, within a budget."""
