"""What tests share: builders of models, oracles, examples of every kind."""
