"""Engine against engine on the public networks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.exact.junction_tree.answers import TreeAnswers
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.engine import JunctionTree

SMALL = ["asia", "cancer", "earthquake", "survey", "sachs", "child", "alarm", "hailfinder", "win95pts"]
LARGE = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in ("andes", "pigs", "water", "mildew", "barley", "diabetes", "munin4", "munin", "link")
]


def read(folder, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.RenormalizedWarning)
        return jt.read(folder / f"{name}.bif.gz")


def leaves_observed(model, rng):
    """Values of up to eight random leaves, drawn together so that they are possible."""
    leaves = [name for name in model.variables.names if not model.graph.children(name)]
    row = jt.sample(model, 1, rng=rng).to_dict()
    return {str(name): row[name][0] for name in rng.permutation(leaves)[:8]}


@pytest.mark.parametrize("name", SMALL + LARGE)
def test_doubles_and_logarithms_agree(name, networks_folder):
    """The run on doubles and the run in logarithms share the plan but no arithmetic."""
    model = read(networks_folder, name)
    evidence = leaves_observed(model, np.random.default_rng(7))
    packed = JunctionTree().packed_model(model)
    row = CodedFindings.of(as_findings(evidence, model.variables), packed.nodes).row(0)
    marginals, log_total = packed.tree.run(row, packed.all_nodes)
    logs, log_evidence = packed.tree.run_logs(
        *row.as_logs(packed.tree.plan.num_states), packed.all_nodes, maximize=False
    )
    assert log_total == pytest.approx(log_evidence, abs=1e-9)
    assert marginals == pytest.approx(packed.tree.normalize(logs, packed.all_nodes), abs=1e-9)
    beliefs = jt.infer(model, evidence)
    assert beliefs.log_evidence == pytest.approx(log_evidence, abs=1e-9)
    for target in model.variables.names[::9]:
        assert beliefs[target].values[0] == pytest.approx(marginals[packed.views[target][1]][0], abs=1e-9)


@pytest.mark.parametrize("name", SMALL)
def test_elimination_and_junction_tree_agree(name, networks_folder):
    model = read(networks_folder, name)
    evidence = leaves_observed(model, np.random.default_rng(8))
    tree = jt.infer(model, evidence)
    for target in model.variables.names[:: max(1, len(model.variables) // 6)]:
        other = jt.infer(model, evidence, targets=[target], method="variable-elimination")
        assert other.log_evidence == pytest.approx(tree.log_evidence, abs=1e-9)
        assert other[target].values == pytest.approx(tree[target].values, abs=1e-9)


@pytest.mark.parametrize("name", SMALL + LARGE[:2])
def test_rows_and_single_rows_agree(name, networks_folder):
    model = read(networks_folder, name)
    rng = np.random.default_rng(9)
    rows = [leaves_observed(model, rng) for _ in range(5)]
    many = jt.infer(model, rows)
    assert isinstance(many.answers, TreeAnswers)
    for place, row in enumerate(rows):
        one = jt.infer(model, row)
        assert many.log_evidence[place] == pytest.approx(one.log_evidence, abs=1e-10)
        for target in model.variables.names[::7]:
            assert many[target].values[place] == pytest.approx(one[target].values, abs=1e-12)
