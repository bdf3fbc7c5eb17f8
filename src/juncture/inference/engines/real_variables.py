"""Whether a model has real-valued variables, and whether it is Gaussian: an engine of its own answers it then."""

from __future__ import annotations

from typing import Any

from juncture.factors.conditional import AnyConditional
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.pairwise.model import PairwiseNetwork


def is_linear(part: AnyConditional) -> bool:
    """Whether a conditional is linear and Gaussian in real numbers only."""
    if isinstance(part, LinearGaussian):
        return all(parent.is_real for parent in part.parents)
    return isinstance(part, Constant) and part.child.dimension == 1


def is_gaussian(model: Any) -> bool:
    """Whether a model is a Bayesian network of linear conditionals, or has Gaussian factors; found once."""
    known = model.derived.get("is gaussian")
    if known is None:
        if isinstance(model, PairwiseNetwork):  # whose factors are not made for this
            known = False
        elif isinstance(model, BayesianNetwork):
            known = bool(model.conditionals) and all(map(is_linear, model.conditionals))
        else:
            known = any(isinstance(part, GaussianFactor) for part in getattr(model, "factors", ()))
        model.derived["is gaussian"] = known
    return bool(known)


def has_real_variables(model: Any) -> bool:
    """Whether a model of factors has real-valued variables; found once and kept with it."""
    derived = getattr(model, "derived", None)
    if type(derived) is not dict:  # a class, or no value
        return False
    if "has real variables" not in derived:
        variables = () if isinstance(model, PairwiseNetwork) else getattr(model, "variables", ())
        derived["has real variables"] = any(variable.is_real for variable in variables)
    return bool(derived["has real variables"])
