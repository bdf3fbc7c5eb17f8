"""Structure learned from rows with holes: fits of the families that holes concern, completed rows, and their scores."""
