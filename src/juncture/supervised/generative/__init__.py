"""Generative classifiers: p(class) and p(row | class), learned or given, and Bayes' rule."""
