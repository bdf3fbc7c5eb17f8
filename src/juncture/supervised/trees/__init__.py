"""Decision trees in Quinlan's form, and forests of them.

`columns` (what the rows are) → `growth` (options, and the search for splits level by level) → `tree`, with `descent`,
`rules`, `explanation` and `picture` → `learn` → `forest`, `pruning`; `gains` has the scores of single splits.
"""
