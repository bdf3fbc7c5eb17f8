"""Linear factors as plain data: {"loadings": [[…]], "mean": […], "noise": […] or a number}."""

from __future__ import annotations

from juncture.base.documents.codec import Record
from juncture.base.documents.kinds import register_kind
from juncture.latent.factor_analysis.model import FactorAnalysis, ProbabilisticPCA

register_kind(Record(FactorAnalysis), Record(ProbabilisticPCA))
