"""The elimination order that a model keeps: from `find_order`, in JSON, and in exact answers."""

import json
import pickle

import numpy as np
import pytest

import juncture as jt
from juncture.inference.exact.junction_tree.plan import complete_order


def random_network(rng, size=14, most_states=5):
    variables = [jt.Variable(f"x{index}", int(rng.integers(2, most_states + 1))) for index in range(size)]
    parts = []
    for index, child in enumerate(variables):
        parents = [variables[p] for p in rng.choice(index, min(index, 3), replace=False)]
        rows = rng.dirichlet(np.ones(child.num_states), [parent.num_states for parent in parents])
        parts.append(jt.Conditional(child, parents, rows))
    return jt.BayesianNetwork(parts)


def noisy_network(rng, size=8):
    causes = [jt.Variable(f"c{index}", 2) for index in range(size)]
    children = [jt.Variable(f"e{index}", 2) for index in range(4)]
    parts = [jt.Conditional(cause, [], [0.7, 0.3]) for cause in causes]
    parts += [jt.NoisyOr(child, causes, rng.uniform(0.1, 0.9, size), leak=0.05) for child in children]
    return jt.BayesianNetwork(parts)


def used_order(model):
    engine = jt.JunctionTree()
    jt.infer(model, method=engine)
    (structure,) = model.derived["structures"].values()
    return structure.tree


@pytest.mark.parametrize("convert", ["keep", "to_markov_network", "to_factor_graph"])
def test_the_order_of_a_model_is_taken_and_survives_json_and_pickle(convert, tmp_path):
    model = random_network(np.random.default_rng(3))
    model = model if convert == "keep" else getattr(model, convert)()
    order = jt.JunctionTree().find_order(model, effort=2.0)
    assert sorted(order) == sorted(model.variables.names)
    kept = model.with_elimination_order(order)
    assert kept == model
    assert kept.elimination_order == order
    assert model.elimination_order == ()
    jt.write(kept, tmp_path / "model.json")
    for copy in (kept, jt.read(tmp_path / "model.json"), pickle.loads(pickle.dumps(kept))):  # noqa: S301
        assert copy == model
        assert copy.elimination_order == order
        assert [copy.variables.names[node] for node in used_order(copy).order] == list(order)
    assert used_order(kept).cost.operations <= used_order(model).cost.operations
    jt.write(model, tmp_path / "plain.json")
    assert "elimination_order" not in json.loads((tmp_path / "plain.json").read_text())


def test_answers_are_the_same_with_any_order():
    rng = np.random.default_rng(5)
    for model in (random_network(rng, 8, 3), noisy_network(rng)):
        names = model.variables.names
        last = names[-1]
        evidence = {last: model.variable(last).labels[1]}
        for order in (rng.permutation(names).tolist(), ()):
            beliefs = jt.infer(model.with_elimination_order(order), evidence)
            expected = jt.infer(model, evidence, method="enumeration")
            assert beliefs.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)
            for name in names:
                np.testing.assert_allclose(beliefs[name].values, expected[name].values, rtol=1e-12, atol=1e-15)


def test_a_poor_order_gives_way_to_a_heuristic():
    center = jt.Variable("center", 3)
    leaves = [jt.Variable(f"leaf {index}", 3) for index in range(10)]
    model = jt.MarkovNetwork([jt.Factor([center, leaf], np.ones((3, 3))) for leaf in leaves])
    poor = model.with_elimination_order(["center", *(leaf.name for leaf in leaves)])
    assert jt.cost(poor) == jt.cost(model)
    assert jt.cost(poor).width == 1


def test_a_changed_network_keeps_the_order_while_its_variables_stay():
    model = random_network(np.random.default_rng(1), 6)
    kept = model.with_elimination_order(reversed(model.variables.names))
    assert kept.with_conditional(model["x3"]).elimination_order == kept.elimination_order
    more = kept.with_conditional(jt.Conditional(jt.Variable("new", 2), [], [0.5, 0.5]))
    assert more.elimination_order == ()
    rows = jt.sample(model, 50, rng=0)
    assert jt.fit(kept, rows, prior=1.0).model.elimination_order == kept.elimination_order


def test_variables_without_a_name_go_right_after_the_first_neighbour():
    scopes = [[0, 3], [3, 1, 4], [4, 2, 5]]
    order = complete_order(["c", "a", "b"], ["a", "b", "c", "h0", "h1", "h2"], scopes)
    assert order.tolist() == [2, 4, 5, 0, 3, 1]


WRONG = {
    "unknown": (["x0", "x1", "y"], "the model has no variable 'y'"),
    "twice": (["x0", "x1", "x0"], "names 'x0' twice"),
    "left out": (["x0", "x1"], "leaves out x2; it must name every variable once"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_order_is_refused_by_the_model_and_by_the_reader(case, tmp_path):
    order, message = WRONG[case]
    model = random_network(np.random.default_rng(0), 3)
    with pytest.raises(jt.JunctureError, match=message):
        model.with_elimination_order(order)
    jt.write(model.with_elimination_order(["x2", "x0", "x1"]), tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    document["elimination_order"] = order
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(jt.FormatError, match=message) as refused:
        jt.read(tmp_path / "model.json")
    assert "elimination_order" in str(refused.value)


def test_the_effort_is_a_number_that_is_not_negative():
    with pytest.raises(jt.errors.InvalidData, match="the effort must be a number of at least 0"):
        jt.JunctionTree().find_order(jt.example("asia"), effort=-1)
