"""A Poisson change-point model: counts over time whose rate changes once; a kind of model in one folder.

`tests/test_new_kind.py` shows that the folder, a line in the table of kinds and an entry in the registry of the tests
are all that a new kind takes.
"""
