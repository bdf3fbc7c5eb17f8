"""Linear factors as plain data: {"loadings": [[…]], "mean": […], "noise": […] or a number}."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.documents.kinds import HEAD, register_kind
from juncture.base.documents.node import Node
from juncture.latent.factor_analysis.model import FactorAnalysis, LinearFactors, ProbabilisticPCA


def encode_factors(model: LinearFactors) -> dict[str, Any]:
    noise = np.asarray(model.noise).tolist()
    return {"loadings": model.loadings.tolist(), "mean": model.mean.tolist(), "noise": noise}


def read_analysis(document: Node) -> FactorAnalysis:
    fields = document.fields([*HEAD, "loadings", "mean", "noise"])
    return FactorAnalysis(fields["loadings"].table(), fields["mean"].table(), fields["noise"].table())


def read_probabilistic(document: Node) -> ProbabilisticPCA:
    fields = document.fields([*HEAD, "loadings", "mean", "noise"])
    return ProbabilisticPCA(fields["loadings"].table(), fields["mean"].table(), fields["noise"].number())


register_kind(FactorAnalysis, encode_factors, read_analysis)
register_kind(ProbabilisticPCA, encode_factors, read_probabilistic)
