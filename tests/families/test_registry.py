"""The registry is complete: every family of the reference is there, with examples that the laws run over."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import Unsupported
from juncture.families.exponential_family import ExponentialFamily
from juncture.families.registry import FAMILIES
from support.family_examples import (
    EXAMPLES,
    MEMBERS,
    REFERENCES,
    asked,
    assert_is_a_sentence,
    members_of,
    over,
    over_families,
    provides,
)
from support.loops import loop_over

NAMES = """
Bernoulli Geometric Binomial NegativeBinomial Categorical Multinomial Poisson Hypergeometric BetaBinomial
DirichletMultinomial Exponential Gamma InverseGamma ScaledInverseChiSquared Beta Dirichlet Gaussian MultivariateGaussian
Laplace Pareto Weibull Uniform StudentT VonMises NormalGamma NormalInverseGamma NormalInverseWishart Wishart
InverseWishart
"""
PROMISED = NAMES.split()


def test_every_promised_family_is_registered():
    assert set(PROMISED) <= set(FAMILIES)


@over_families
def test_every_family_has_examples_of_its_own(family):
    examples = EXAMPLES.get(family.__name__, [])
    assert len(members_of(family)) >= 2, f"{family.__name__} needs at least two members in family_references"
    assert all(type(example) is family for example in examples)


def test_no_examples_of_unknown_families():
    assert set(EXAMPLES) <= set(FAMILIES)
    assert set(REFERENCES) <= set(FAMILIES)


@over_families
def test_names_and_parameters_are_words(family):
    assert FAMILIES[family.__name__] is family
    assert family.__doc__
    assert all((name.isidentifier() and len(name) > 2) or name in {"a", "b"} for name in family.parameters)
    assert set(family.optional) <= set(family.parameters)


# depends on where angles are counted from; all values are alike
NEVER = {("VonMises", "variance"), ("Uniform", "mode")}


@over_families
@loop_over("quantity", {"each": ["mean", "variance", "mode", "median", "entropy"]})
def test_what_a_family_provides_exists_for_one_of_its_examples(family, quantity):
    """So no law about moments is kept by refusing always."""
    name = {"median": "_quantile"}.get(quantity, quantity)
    if provides(family, name) and (family.__name__, quantity) not in NEVER:
        assert any(asked(member, quantity) is not None for member in members_of(family))


NOT_EXPONENTIAL = [member for member in MEMBERS if not isinstance(member, ExponentialFamily)]


@over(NOT_EXPONENTIAL)
@pytest.mark.parametrize("name", ["natural_parameters", "mean_parameters", "log_partition"])
def test_what_is_no_exponential_family_says_so(member, name):
    """Uniform and Student-t are none (S4-050)."""
    with pytest.raises(Unsupported, match="not an exponential family") as caught:
        np.asarray(getattr(member, name)())
    assert_is_a_sentence(caught.value)


def test_which_families_are_exponential():
    """S4-042 to S4-050, and the compounds."""
    kept_out = {name for name in PROMISED if not issubclass(FAMILIES[name], ExponentialFamily)}
    assert kept_out == {"Uniform", "StudentT", "Hypergeometric", "BetaBinomial", "DirichletMultinomial"}
