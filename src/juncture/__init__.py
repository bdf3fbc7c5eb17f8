"""Juncture: probabilistic graphical models. Declare a model, ask it, learn it from data.

A model is a product of factors. Inference eliminates variables from it. Learning adds up statistics of it.

__init__.pyi tells type checkers the same names.
"""

from __future__ import annotations

import importlib
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
    "MissingExtra": "errors",
    "ImpossibleEvidenceWarning": "errors",
    "RenormalizedWarning": "errors",
}

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'juncture' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"juncture.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
