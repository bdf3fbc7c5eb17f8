"""Juncture: probabilistic graphical models. Declare a model, ask it, learn it from data.

A model is a product of factors. Inference eliminates variables from it. Learning adds up statistics of it.

__init__.pyi tells type checkers the same names.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

__version__ = "0.1.0"

# name → the module that defines it, loaded when the name is first used; grouped by stage
_HOMES = {
    # variables and data
    "Variable": "variables",
    "Scope": "variables",
    "Assignment": "variables",
    "Dataset": "data.dataset",
    "Evidence": "evidence",
    # graphs
    "DirectedGraph": "graphs.directed",
    "UndirectedGraph": "graphs.undirected",
    "PartiallyDirectedGraph": "graphs.partially_directed",
    "Independence": "graphs.independence",
    "Trail": "graphs.trails",
    # families of distributions
    "Bernoulli": "families.discrete.bernoulli",
    "Geometric": "families.discrete.geometric",
    "Binomial": "families.discrete.binomial",
    "NegativeBinomial": "families.discrete.negative_binomial",
    "Categorical": "families.discrete.categorical",
    "Poisson": "families.discrete.poisson",
    "Hypergeometric": "families.discrete.hypergeometric",
    "BetaBinomial": "families.discrete.beta_binomial",
    "BetaNegativeBinomial": "families.discrete.beta_negative_binomial",
    "Exponential": "families.continuous.exponential",
    "Gamma": "families.continuous.gamma",
    "InverseGamma": "families.continuous.inverse_gamma",
    "ScaledInverseChiSquared": "families.continuous.scaled_inverse_chi_squared",
    "Beta": "families.continuous.beta",
    "Gaussian": "families.continuous.gaussian",
    "Laplace": "families.continuous.laplace",
    "Pareto": "families.continuous.pareto",
    "Lomax": "families.continuous.lomax",
    "Weibull": "families.continuous.weibull",
    "VonMises": "families.continuous.von_mises",
    "Uniform": "families.continuous.uniform",
    "StudentT": "families.continuous.student_t",
    "Multinomial": "families.vectors.multinomial",
    "DirichletMultinomial": "families.vectors.dirichlet_multinomial",
    "Dirichlet": "families.vectors.dirichlet",
    "MultivariateGaussian": "families.vectors.multivariate_gaussian",
    "CanonicalGaussian": "families.vectors.canonical_gaussian",
    "MultivariateStudentT": "families.vectors.multivariate_student_t",
    "Wishart": "families.vectors.wishart",
    "InverseWishart": "families.vectors.inverse_wishart",
    "NormalGamma": "families.vectors.normal_gamma",
    "NormalInverseGamma": "families.vectors.normal_inverse_gamma",
    "NormalInverseWishart": "families.vectors.normal_inverse_wishart",
    "Independent": "families.vectors.independent",
    "one_hot": "families.discrete.one_hot",
    "from_one_hot": "families.discrete.one_hot",
    "Statistics": "families.statistics",
    "statistics_from_json": "families.statistics",
    "minimal_form": "families.minimal",
    "schur_complement": "families.vectors.block_matrices",
    "block_inverse": "families.vectors.block_matrices",
    "woodbury_inverse": "families.vectors.block_matrices",
    # priors and posteriors
    "GenericPrior": "families.conjugacy.generic",
    "jeffreys": "families.conjugacy.jeffreys",
    "quadrature_posterior": "families.conjugacy.quadrature",
    "laplace_approximation": "families.conjugacy.laplace",
    "laplace_evidence": "families.conjugacy.laplace",
    "fit_concentration": "families.conjugacy.pooling",
    # information
    "entropy": "information.entropies",
    "self_information": "information.entropies",
    "perplexity": "information.entropies",
    "cross_entropy": "information.entropies",
    "conditional_entropy": "information.entropies",
    "mutual_information": "information.entropies",
    "total_correlation": "information.entropies",
    "kl_divergence": "information.divergences",
    "redundancy": "information.divergences",
    "total_variation": "information.divergences",
    "pinsker_bound": "information.divergences",
    "chi_squared_divergence": "information.divergences",
    "alpha_divergence": "information.divergences",
    "optimal_test": "information.decisions",
    "bayes_error": "information.decisions",
    "Density": "information.density",
    "empirical": "information.atoms",
    "m_projection": "information.projections",
    "i_projection": "information.projections",
    "alpha_projection": "information.projections",
    "max_entropy": "information.max_entropy",
    "max_entropy_density": "information.max_entropy_density",
    "max_entropy_table": "information.contingency",
    "chebyshev_bound": "information.bounds",
    "standard_error": "information.bounds",
    "samples_needed": "information.bounds",
    # factors and conditionals
    "Factor": "factors.factor",
    "AnyConditional": "factors.conditional",
    "Conditional": "factors.conditional",
    "Deterministic": "factors.deterministic",
    "NoisyOr": "factors.noisy",
    "NoisyMax": "factors.noisy",
    "Logistic": "factors.logistic",
    "LinearGaussian": "factors.gaussian",
    "Constant": "factors.gaussian",
    # models
    "BayesianNetwork": "models.bayesian_network",
    "MarkovNetwork": "models.factor_product",
    "FactorGraph": "models.factor_product",
    "plate": "models.plates",
    "do": "models.intervention",
    "draw": "models.picture",
    "lint": "models.lint",
    "factorizes": "models.markov_properties",
    "markov_violations": "models.markov_properties",
    "faithfulness_violations": "models.markov_properties",
    "edge_information": "inference.edge_information",
    # questions
    "infer": "inference.infer",
    "most_probable": "inference.most_probable",
    "sample": "inference.sampling.forward",
    "log_prob": "inference.log_prob",
    "Beliefs": "inference.beliefs",
    "sensitivity": "inference.exact.sensitivity",
    "cost": "inference.planning",
    "compile": "inference.planning",
    "JunctionTree": "inference.exact.junction_tree",
    "VariableElimination": "inference.exact.variable_elimination",
    "Enumeration": "inference.exact.enumeration",
    "to_bayesian_network": "inference.exact.directed_form",
    "sum_product": "inference.messages.sum_product",
    "max_product": "inference.messages.max_product",
    # learning
    "fit": "learning.fit",
    "Fit": "learning.fit",
    "Trace": "iteration",
    "statistics": "learning.statistics",
    "estimate": "learning.estimation",
    "NetworkStatistics": "learning.network_statistics",
    "BDeu": "learning.priors",
    "K2": "learning.priors",
    "ExpectationMaximization": "learning.learners",
    "GradientAscent": "learning.gradient",
    "standard_errors": "learning.standard_errors",
    "posterior": "learning.posterior",
    "learn_structure": "learning.structure.learn",
    "HillClimbing": "learning.structure.hill_climbing",
    "ChowLiu": "learning.structure.trees",
    "TreeAugmented": "learning.structure.trees",
    "PC": "learning.structure.pc",
    "GES": "learning.structure.ges",
    "Exact": "learning.structure.exact",
    "MMHC": "learning.structure.mmhc",
    "StructuralEM": "learning.structure.structural_em",
    "structure_score": "learning.structure.scores",
    "compare_graphs": "learning.structure.comparison",
    "edge_strengths": "learning.structure.strength",
    "missingness": "data.missingness",
    "Discretizer": "data.discretizer",
    "FittedDiscretizer": "data.discretizer",
    # files
    "read": "formats.files",
    "write": "formats.files",
    "read_evidence": "formats.uai.evidence",
    "write_evidence": "formats.uai.evidence",
    "read_result": "formats.uai.results",
    "write_result": "formats.uai.results",
    "example": "formats.bundled",
    "examples": "formats.bundled",
    # plots
    "plot_density": "plotting.density",
    # errors and warnings
    "JunctureError": "errors",
    "UnknownVariable": "errors",
    "UnknownState": "errors",
    "ImpossibleEvidence": "errors",
    "InvalidModel": "errors",
    "InvalidData": "errors",
    "FormatError": "errors",
    "Unsupported": "errors",
    "TooLarge": "errors",
    "ObjectiveDecreased": "errors",
    "MissingExtra": "errors",
    "ImpossibleEvidenceWarning": "errors",
    "RenormalizedWarning": "errors",
    "UnseenParentsWarning": "errors",
    "UnseenStatesWarning": "errors",
    "NotConvergedWarning": "errors",
    "NotDirectedWarning": "errors",
    "RegularizedWarning": "errors",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'juncture' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    value = getattr(importlib.import_module(f"juncture.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
