"""Comparing learners: tests of differences between scores, and Bayesian statements about them."""
