"""Networks with real columns fitted to the tables that public networks were fitted to, and their JSON files."""

from __future__ import annotations

import csv
import gzip
import json

import numpy as np
import pytest

import juncture as jt


def read_network(folder, name):
    """(the nodes as they are stored, the graph, the variables, the columns)."""
    nodes = json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))["nodes"]
    lines = gzip.decompress((folder / f"{name}.data.csv.gz").read_bytes()).decode().splitlines()
    head, *rows = csv.reader(lines)
    table = dict(zip(head, zip(*rows, strict=True), strict=True))
    parents = {
        child: node["parents"] if node["states"] else [*node["discrete_parents"], *node["real_parents"]]
        for child, node in nodes.items()
    }
    graph = jt.DirectedGraph([(parent, child) for child, some in parents.items() for parent in some], list(nodes))
    variables = [jt.Variable(child, node["states"]) for child, node in nodes.items()]
    columns = {child: np.array(table[child], str if node["states"] else float) for child, node in nodes.items()}
    return nodes, graph, variables, columns


@pytest.mark.parametrize("name", ["ecoli70", "magic-niab", "sangiovese"])
def test_least_squares_gives_the_stored_coefficients(name, networks_folder, tmp_path):
    """The stored variances divide by rows less parameters, the maximum of the likelihood by rows."""
    folder = networks_folder / "gaussian"
    if not folder.is_dir():
        pytest.skip("the Gaussian networks are not here")
    nodes, graph, variables, columns = read_network(folder, name)
    fitted = jt.fit(graph, columns, variables=variables)
    for child, node in nodes.items():
        part = fitted.model[child]
        if node["states"]:
            assert part.values == pytest.approx(np.array(node["table"]), abs=1e-12)
            continue
        rows = fitted.statistics[child].weight
        assert part.coefficients == pytest.approx(np.array(node["coefficients"]), rel=1e-10, abs=1e-10)
        assert part.intercept == pytest.approx(np.array(node["intercept"]), rel=1e-10, abs=1e-10)
        rescaled = part.variance * rows / (rows - len(node["real_parents"]) - 1)
        assert rescaled == pytest.approx(np.array(node["variance"]), rel=1e-10)
    jt.write(fitted.model, tmp_path / "fitted.json")
    assert jt.read(tmp_path / "fitted.json") == fitted.model
    saved = type(fitted.statistics).from_json(fitted.statistics.to_json())
    assert jt.estimate(graph, saved) == fitted.model
