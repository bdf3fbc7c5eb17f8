"""scikit-learn classes over models and learning, `jt.estimators`: they read `X` and `y`, and leave work to verbs.

`reading` (what `X` and `y` are, and their cells as states) → the classes themselves; where rows are steps of sequences,
`sequences` → `hidden_markov` → the classes.
"""

from juncture.names import face

face(__name__)
