"""Decision trees in Quinlan's form, and forests of them.

`training_rows` (what the rows are) → `growth` (options, and the search for splits level by level) → `rules` and
`descent` → `tree` (the value and `learn_tree`) → `forest`, `pruning`; `gains` has the scores of single splits.
"""
