"""Type checkers let models answer in their own words: `make check` reads this file, nothing runs it."""

from __future__ import annotations

import juncture as jt

hmm = jt.HiddenMarkovModel([1.0], [[1.0]], [[1.0]])
jt.infer(hmm, [0]).smoothed  # noqa: B018
jt.most_probable(hmm, [0]).path  # noqa: B018
jt.sample(hmm, [3, 2])[0].states  # noqa: B018
