"""Model choice: criteria, evidence, Bayes factors, code lengths and predictive scores, for models of every kind."""
