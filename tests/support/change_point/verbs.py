"""What the verbs do with change-point models."""

from __future__ import annotations

from juncture import verbs
from juncture.base.dispatch import register
from support.change_point.fit import ChangePointOptions, fit_change
from support.change_point.infer import infer_change, log_prob_counts, most_probable_change, sample_counts
from support.change_point.model import PoissonChangePoint

register(verbs.infer, PoissonChangePoint, infer_change)
register(verbs.most_probable, PoissonChangePoint, most_probable_change)
register(verbs.sample, PoissonChangePoint, sample_counts)
register(verbs.log_prob, PoissonChangePoint, log_prob_counts)
register(verbs.fit, PoissonChangePoint, fit_change, ChangePointOptions)
