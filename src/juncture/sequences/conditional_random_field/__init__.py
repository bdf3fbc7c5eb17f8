"""Conditional random fields over chains: the labels of the steps of a sequence, given what is observed of them."""
