"""`StudentEmissions`: Student t vectors, which are the predictive distributions of Gaussian classes."""

from __future__ import annotations

import numpy as np

from juncture.components.family import FamilyEmissions
from juncture.data.missingness import group_by_pattern
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT


class StudentEmissions(FamilyEmissions):
    """Student t vectors, one per class; missing entries are summed out, as marginals are Student t too."""

    family: MultivariateStudentT

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        if not np.isnan(rows).any():
            return self._log_prob_whole(rows)
        found = np.zeros((len(rows), self.num_states))
        for pattern, positions in group_by_pattern(~np.isnan(rows)):
            seen = np.flatnonzero(pattern)
            if len(seen):
                part = self.family.marginal(seen)
                found[positions] = part.log_prob(rows[np.ix_(positions, seen)][:, None])
        return found
