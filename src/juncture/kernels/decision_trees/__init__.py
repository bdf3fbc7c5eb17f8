"""Loops over the rows of decision trees: the best split of each node, rows sent to children and to leaves."""
