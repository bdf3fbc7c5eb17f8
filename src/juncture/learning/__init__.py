"""From data to parameters: statistics, estimates, expectation maximisation."""
