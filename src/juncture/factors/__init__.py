"""Tables over variables, and conditionals: how a child arises from its parents."""
