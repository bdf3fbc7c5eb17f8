"""Classifiers with a linear discriminant function: separability, hyperplanes, margins."""
