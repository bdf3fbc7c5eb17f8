"""Regressions: linear, Bayesian linear, logistic and generalised linear models of a target given inputs."""
