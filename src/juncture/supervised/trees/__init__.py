"""Decision trees in Quinlan's form, and forests of them.

`training_rows` (what the rows are) → `growth` (options, and the search for splits level by level) → `rules` and
`descent` → `model` (what a tree and a forest share) → `tree` → `forest`, `pruning`; `gains` has the scores of single
splits.
"""
