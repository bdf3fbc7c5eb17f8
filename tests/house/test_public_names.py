"""The public surface changes only on purpose."""

from __future__ import annotations

import ast
from pathlib import Path

import juncture

PUBLIC_NAMES = [
    "AnyConditional",
    "Assignment",
    "BayesianNetwork",
    "Beliefs",
    "Conditional",
    "Constant",
    "Dataset",
    "Deterministic",
    "DirectedGraph",
    "Enumeration",
    "Evidence",
    "Factor",
    "FactorGraph",
    "FormatError",
    "ImpossibleEvidence",
    "ImpossibleEvidenceWarning",
    "InvalidData",
    "InvalidModel",
    "JunctionTree",
    "JunctureError",
    "LinearGaussian",
    "Logistic",
    "MarkovNetwork",
    "MissingExtra",
    "NoisyMax",
    "NoisyOr",
    "RenormalizedWarning",
    "Scope",
    "TooLarge",
    "UndirectedGraph",
    "UnknownState",
    "UnknownVariable",
    "Unsupported",
    "Variable",
    "VariableElimination",
    "__version__",
    "compile",
    "cost",
    "do",
    "draw",
    "example",
    "examples",
    "infer",
    "lint",
    "log_prob",
    "max_product",
    "most_probable",
    "plate",
    "plot_density",
    "read",
    "read_evidence",
    "read_result",
    "sample",
    "sensitivity",
    "sum_product",
    "to_bayesian_network",
    "write",
    "write_evidence",
    "write_result",
]


def test_the_sorted_list_of_public_names_is_pinned():
    assert sorted(juncture.__all__) == PUBLIC_NAMES


def test_every_public_name_can_be_had():
    for name in juncture.__all__:
        assert getattr(juncture, name) is not None


def test_type_checkers_see_the_same_names():
    stub = Path(juncture.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    told = {alias.asname: node.module for node in imports for alias in node.names if alias.asname}
    assert told == {name: f"juncture.{home}" for name, home in juncture._HOMES.items()}


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(juncture, "Bayesian")
