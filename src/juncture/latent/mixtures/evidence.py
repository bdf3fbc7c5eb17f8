"""A lower bound of the evidence of a mixture, p(rows | number of components), with the parameters integrated out.

With q the posterior of the components under learned parameters θ̂ and ŝ the statistics that q expects,
log p(rows) ≥ log ∫ p(θ) exp E log p(rows, components | θ) dθ + H(q) = log p(ŝ) + log p(rows | θ̂) - E log p(rows,
components | θ̂), where p(ŝ) is the evidence of data with these statistics, in closed form for conjugate priors
(Cheeseman and Stutz 1996; Minka 2001). With one component and complete rows the bound is the evidence itself. Of the
equal maxima that other orders of the components have, one is counted.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy.special import gammaln

from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.family import FamilyEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.errors import Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.latent.mixtures.problem import as_emission_statistics, as_emissions
from juncture.learning.fit import Fit


def evidence_bound(found: Fit[Mixture], prior: MixturePrior) -> float:
    """The bound for a mixture that was learned; weights and tables without a prior have a uniform one."""
    statistics: Any = found.statistics
    complete = count_evidence(statistics.counts[None], prior.weights)
    complete += components_evidence(found.model.components, statistics.components, prior.components)
    expected = as_emissions(found.model).log_likelihood(as_emission_statistics(statistics))
    return complete + found.log_likelihood - expected


def components_evidence(components: Emissions, statistics: EmissionStatistics, prior: Any) -> float:
    """Log of the evidence of data with these statistics, over all components."""
    if isinstance(components, IndependentEmissions):
        parts = zip(components.parts, statistics.parts, components._priors(prior), strict=True)
        return sum(components_evidence(*part) for part in parts)
    if isinstance(components, CategoricalEmissions):
        return count_evidence(statistics.parts[0], prior)
    if isinstance(components, BernoulliEmissions):
        ones, seen = statistics.parts
        counts = np.stack([ones, np.maximum(seen - ones, 0.0)], axis=-1).reshape(-1, 2)
        return count_evidence(counts, Dirichlet([prior.a, prior.b]) if isinstance(prior, Beta) else prior)
    is_conjugate = isinstance(components, FamilyEmissions) or (
        isinstance(components, GaussianEmissions) and components.structure in {"full", "diagonal"}
    )
    if not is_conjugate or not hasattr(prior, "log_evidence"):
        raise Unsupported(
            f"the evidence needs a conjugate prior of each component, as MixturePrior(components=…), and no tied or"
            f" spherical covariances; of {components.summary} it is {prior!r}: take another criterion, or give one"
        )
    return float(np.sum(np.asarray(prior.log_evidence(statistics.parts[0]))))


def count_evidence(counts: np.ndarray, prior: Any) -> float:
    """Σ over the rows of counts (row, state) of log ∫ Π θ^n Dirichlet(θ) dθ; a number is each concentration."""
    alpha = np.asarray(prior.concentration if isinstance(prior, Dirichlet) else 1.0 if prior is None else prior, float)
    if not isinstance(prior, Real | Dirichlet | None):
        raise Unsupported(f"the evidence of counts needs a number or a Dirichlet as prior; got {prior!r}")
    alpha = np.broadcast_to(alpha, counts.shape)
    totals = gammaln(alpha.sum(axis=-1)) - gammaln((alpha + counts).sum(axis=-1))
    return float((totals + (gammaln(alpha + counts) - gammaln(alpha)).sum(axis=-1)).sum())
