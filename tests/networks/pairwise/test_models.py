"""Ising and Potts models as arrays: the same distribution as their factors, whatever the form."""

from __future__ import annotations

import itertools
import math
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.inference.engines.factor_arrays import arrays_of, factor_arrays, node_scope
from juncture.inference.engines.lowering import lower
from juncture.networks.pairwise.nodes import GridNames, NodeScope

TRIANGLE = jt.UndirectedGraph([("a", "b"), ("b", "c"), ("a", "c")])


SIZES = st.integers(2, 3)


def all_states(model):
    """(assignment, *shape): every assignment of labels."""
    return np.array(list(itertools.product(model.states, repeat=model.num_nodes))).reshape(-1, *model.shape)


@st.composite
def models(draw, num_states=SIZES):
    """Small models on grids and graphs, with shared and own couplings."""
    rng, size = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(num_states)
    graph = draw(
        st.sampled_from([(2, 3), (1, 4), (2, 2, 2), TRIANGLE, jt.UndirectedGraph([("a", "b")], nodes=list("abc"))])
    )
    shape = graph if isinstance(graph, tuple) else (len(graph.nodes),)
    num_edges = len(jt.potts(graph, 2, 0.0).edges)
    coupling = draw(st.sampled_from([0.7, -0.4, rng.normal(size=num_edges)]))
    if size > 2:
        return jt.potts(graph, size, coupling, draw(st.sampled_from([None, rng.normal(size=(*shape, size))])))
    values = draw(st.sampled_from([(-1, 1), (0, 1)]))
    return jt.ising(graph, coupling, draw(st.sampled_from([0.0, 0.3, rng.normal(size=shape)])), values=values)


@given(models())
def test_arrays_factors_and_answers_agree(model):
    """Enumeration of arrays, the product of factors, and exact inference give one distribution."""
    states = all_states(model)
    logs = model.log_joint(states)
    assert model.energy(states) == pytest.approx(-logs)
    network = model.to_markov_network()
    row = dict(zip(model.names, states[-1].ravel().tolist(), strict=True))
    assert network.log_joint(row) == pytest.approx(model.log_joint(row), abs=1e-12)
    assert model.log_joint(row) == pytest.approx(logs[-1], abs=1e-12)
    beliefs = jt.infer(model)
    assert beliefs.log_evidence == pytest.approx(np.logaddexp.reduce(logs), abs=1e-10)
    weights = np.exp(logs - beliefs.log_evidence)
    for code, state in enumerate(model.states):
        mine = np.tensordot(weights, states == state, axes=1)
        assert beliefs.array[..., code] == pytest.approx(mine, abs=1e-10)
    best = jt.most_probable(model)
    assert best.log_joint == pytest.approx(logs.max(), abs=1e-10)
    assert model.log_joint(best.array) == pytest.approx(logs.max(), abs=1e-10)


@given(models())
def test_the_flat_arrays_are_those_of_the_factors(model):
    mine, theirs = factor_arrays(model), arrays_of(lower(model))
    assert node_scope(model) == lower(model).scope
    assert mine.num_factors == theirs.num_factors
    for factor in range(mine.num_factors):
        assert mine.scope(factor).tolist() == theirs.scope(factor).tolist()
        assert mine.log_table(factor) == pytest.approx(theirs.log_table(factor), abs=1e-12)


@given(models(st.just(2)), st.sampled_from([(-1, 1), (0, 1)]))
def test_both_conventions_are_one_distribution(model, values):
    """S0-178, S0-179: the couplings and fields of any binary model, for x in {0, 1} and in {-1, 1}."""
    found = jt.families.ising_parameters(model, values)
    graph = model.shape if isinstance(model.names, GridNames) else model.graph
    other = jt.ising(graph, found.coupling, found.field, values=values)
    assert (other.edges == model.edges).all()
    codes = np.array(list(itertools.product(range(2), repeat=model.num_nodes)))
    assert other.log_joint_of_codes(codes) + found.constant == pytest.approx(model.log_joint_of_codes(codes), abs=1e-10)


def test_a_pair_of_spins_and_the_sign_of_the_energy():
    """S1-088 (typo T9): the energy is -w x1 x2, so w = 1 prefers equal spins, P = 0.8808; Z = 6.1723."""
    for coupling, equal in ((1.0, 0.8808), (-1.0, 0.1192), (0.0, 0.5)):
        model = jt.ising((1, 2), coupling)
        assert model.energy([[1, 1]]) == -coupling
        beliefs = jt.infer(model)
        joint = beliefs.joint("x0_0", "x0_1")
        assert joint[1, 1] + joint[-1, -1] == pytest.approx(equal, abs=5e-5)
        assert math.exp(beliefs.log_evidence) == pytest.approx(6.1723 if coupling else 4.0, abs=5e-5)


def test_small_models_of_the_sources():
    """S0-219: {0, 1} with the coupling log 2 on a pair, a chain and a triangle: Z = 5, 13, 18; P(1) = 13/18."""
    for edges, total in ([("a", "b")], 5), ([("a", "b"), ("b", "c")], 13), (TRIANGLE.edges, 18):
        beliefs = jt.infer(jt.ising(jt.UndirectedGraph(edges), math.log(2), values=(0, 1)))
        assert math.exp(beliefs.log_evidence) == pytest.approx(total)
    assert beliefs["a"][1] == pytest.approx(13 / 18)


@pytest.mark.parametrize(
    ("coupling", "kind"), [(0.6, "ferromagnetic"), (-0.6, "antiferromagnetic"), (0.0, "non-interacting")]
)
def test_kinds_of_couplings(coupling, kind):
    """S1-089: E x_i x_j is positive, negative or zero; on a chain it is tanh(w)^|i-j|."""
    chain = jt.ising((6,), coupling)
    assert jt.families.ising_parameters(chain).kind == kind
    table = jt.infer(chain).joint("x0", "x3").values
    assert table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0] == pytest.approx(math.tanh(coupling) ** 3)
    assert jt.families.ising_parameters(jt.ising((3,), [1.0, -1.0])).kind == "mixed"


def test_the_grid_of_the_introduction():
    """S0-027: a grid of 100 × 100 pixels has 10,000 nodes and 19,800 edges."""
    grid = jt.ising((100, 100), 0.4)
    assert (grid.num_nodes, grid.num_edges) == (10_000, 19_800)


def test_two_coupled_chains():
    """S0-027: two chains, each of which depends on both at the step before; 2 (T - 1) tables with two parents."""
    steps, rng = 50, np.random.default_rng(0)
    price = {(name, t): jt.Variable(f"{name}{t}", ["down", "up"]) for name in "ab" for t in range(steps)}
    tables = {name: rng.dirichlet([1.0, 1.0], size=(2, 2)) for name in "ab"}
    parts = [jt.Conditional(price[name, 0], [], [0.5, 0.5]) for name in "ab"]
    for t, name in itertools.product(range(1, steps), "ab"):
        parts.append(jt.Conditional(price[name, t], [price["a", t - 1], price["b", t - 1]], tables[name]))
    tied = [[f"{name}{t}" for t in range(1, steps)] for name in "ab"]
    model = jt.BayesianNetwork(parts, tied=tied)
    assert len(model.graph.edges) == 4 * (steps - 1)
    pair = np.full((2, 2), 0.25)  # the same, step by step over the pair of both chains
    for _ in range(steps - 1):
        pair = np.einsum("ab,abc,abd->cd", pair, tables["a"], tables["b"])
    last = jt.infer(model).joint(f"a{steps - 1}", f"b{steps - 1}")
    assert last.values == pytest.approx(pair, abs=1e-12)


def test_evidence_as_an_array():
    """NaN, masked entries, and -1 where that is no state, are unknown; the rest is as a mapping of the same states."""
    model = jt.ising((2, 3), 0.5, 0.2)
    image = np.full((2, 3), np.nan)
    image[0, 1], image[1, 2] = -1, 1
    mapped = jt.infer(model, {"x0_1": -1, "x1_2": 1})
    for evidence in (image, np.ma.masked_invalid(image)):
        beliefs = jt.infer(model, evidence)
        assert beliefs.array == pytest.approx(mapped.array, abs=1e-12)
        assert beliefs.log_evidence == pytest.approx(mapped.log_evidence, abs=1e-12)
        best = jt.most_probable(model, evidence)
        assert (best.array == jt.most_probable(model, {"x0_1": -1, "x1_2": 1}).array).all()
    binary = jt.ising((2, 3), 0.5, 0.2, values=(0, 1))
    codes = np.array([[-1, 0, -1], [-1, -1, 1]])
    assert jt.infer(binary, codes).array == pytest.approx(jt.infer(binary, {"x0_1": 0, "x1_2": 1}).array, abs=1e-12)
    assert (model.clamp(np.ones((2, 3))).encode(np.ones((2, 3))) == 1).all()


def test_the_array_of_a_most_probable_assignment_has_the_observed_states():
    model = jt.ising((2, 2), 1.0)
    best = jt.most_probable(model, {"x0_0": 1})
    assert best.array.tolist() == [[1, 1], [1, 1]]
    assert best.assignment == {"x0_1": 1, "x1_0": 1, "x1_1": 1}
    assert [part.array.shape for part in jt.most_probable(model, k=3)] == [(2, 2)] * 3
    assert jt.most_probable(model, {"x0_0": 1}, targets=["x0_1"]).assignment == {"x0_1": 1}
    assert repr(best) == f"MostProbableArray(2 × 2 nodes, log_prob={best.log_prob!r}, log_joint=4.0)"


def test_names_and_variables_behave_as_tuples():
    names = GridNames((2, 3))
    listed = tuple(names)
    assert listed == ("x0_0", "x0_1", "x0_2", "x1_0", "x1_1", "x1_2")
    assert names == listed
    assert names != listed[1:]
    assert hash(names) == hash(listed)
    assert (names[-1], names[1:3], len(names)) == ("x1_2", ("x0_1", "x0_2"), 6)
    assert [names.index(name) for name in listed] == list(range(6))
    for strange in ("x2_0", "x0_3", "x0", "x0_0_0", "x00_0", "y0_0", 3, None):
        assert strange not in names
    with pytest.raises(ValueError, match="no name"):
        names.index("x9_9")
    assert names.__add__(("y",)) == (*listed, "y")
    scope = NodeScope(names, (0, 1))
    plain = jt.results.Scope(jt.Variable(name, 2) for name in listed)
    assert scope == plain
    assert plain == scope
    assert hash(scope) == hash(plain)
    assert (scope.names, scope.shape, scope.size, scope[2], scope[1:3]) == (
        names, plain.shape, plain.size, plain[2], plain[1:3]
    )  # fmt: skip
    assert scope.axis("x1_0") == 3
    assert plain[4] in scope
    assert jt.Variable("x0_0", 3) not in scope
    assert pickle.loads(pickle.dumps(scope)) == scope  # noqa: S301
    with pytest.raises(jt.UnknownVariable, match="no variable 'x7_7'"):
        scope.axis("x7_7")


def test_a_large_grid_makes_few_objects():
    """A million nodes are a few arrays; a name or a variable is made when it is asked for."""
    model = jt.ising((1000, 1000), 0.4, np.zeros((1000, 1000)))
    tracemalloc.start()
    scope = model.variables
    assert scope.axis("x999_999") == 999_999
    assert model.variable("x3_7") == jt.Variable("x3_7", [-1, 1])
    assert repr(model) == "PairwiseNetwork(1000 × 1000 nodes, 2 states, 1,998,000 edges)"
    assert model._repr_html_().startswith("<p>")
    assert tracemalloc.get_traced_memory()[1] < 2e6
    tracemalloc.stop()
    with pytest.raises(jt.TooLarge, match="draw a smaller model"):
        jt.draw(model)
    with pytest.raises(jt.TooLarge, match="width of at least 1000"):  # at once, without a plan
        jt.infer(model, method="exact")


def test_learning_the_tables_of_a_pairwise_model():
    """S4-077: what the tables learn from is E_data - E_model of the features: at the maximum the two phases cancel."""
    model = jt.ising((2, 2), 0.7, 0.2)
    rows = jt.sample(model, 4000, given={}, rng=0)
    fitted = jt.fit(model, rows)
    assert isinstance(fitted.model, jt.MarkovNetwork)
    beliefs = jt.infer(fitted.model)
    for first, second in model.graph.edges:
        share = np.mean((rows.columns[first] == 1) & (rows.columns[second] == 1))
        assert beliefs.joint(first, second)[1, 1] == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: jt.ising((2, 2), [1.0]), "4 edges and 1 couplings"),
        (lambda: jt.ising((2, 2), 1.0, [1.0]), r"shape \(2, 2\)"),
        (lambda: jt.ising((2, 2), 1.0, values=(1, 2)), r"\(-1, 1\) or \(0, 1\)"),
        (lambda: jt.ising("ab", 1.0), "UndirectedGraph"),
        (lambda: jt.ising((0, 2), 1.0), "at least 1"),
        (lambda: jt.ising(TRIANGLE, {("a", "b"): 1.0}), r"no number for the edge \('b', 'c'\)"),
        (lambda: jt.ising(jt.UndirectedGraph([("a", "b")]), {("a", "b"): 1, ("a", "z"): 1}), "no edge of the graph"),
        (lambda: jt.ising((2, 2), float("nan")), "finite number"),
        (lambda: jt.potts((2, 2), 3, 1.0, [0.0, 1.0]), r"shape \(3,\)"),
        (lambda: jt.PairwiseNetwork([0.0, 1.0], [], [[0.0]]), "an axis for the nodes"),
        (lambda: jt.PairwiseNetwork(np.zeros((2, 2)), [[0, 2]], np.eye(2)), "nodes 0 … 1"),
        (lambda: jt.PairwiseNetwork(np.zeros((2, 2)), [[1, 1]], np.eye(2)), "itself"),
        (lambda: jt.PairwiseNetwork(np.zeros((2, 2)), [[0, 1], [1, 0]], np.eye(2)), "same nodes"),
        (lambda: jt.PairwiseNetwork(np.zeros((2, 2)), [[0, 1]], np.eye(3)), r"shape \(2, 2\)"),
        (lambda: jt.PairwiseNetwork(np.zeros((2, 2)), [[0, 1]], np.eye(2), names=["a"]), "2 nodes and 1 names"),
        (lambda: jt.PairwiseNetwork(np.zeros((2, 2)), [[0, 1]], np.eye(2), states=["a"]), "1 labels"),
    ],
)
def test_what_is_refused(build, words):
    with pytest.raises(jt.errors.InvalidModel, match=words):
        build()


def test_states_that_are_refused():
    model = jt.ising((2, 2), 1.0)
    with pytest.raises(jt.errors.InvalidData, match=r"shape \(2, 2\); got \(3,\)"):
        model.energy([1, 1, 1])
    with pytest.raises(jt.errors.UnknownState, match="no state 0"):
        model.energy(np.zeros((2, 2)))
    with pytest.raises(jt.errors.InvalidData, match="log_likelihoods must have the shape"):
        model.add_log_likelihoods([0.0])
    with pytest.raises(jt.errors.Unsupported, match="all nodes of a PairwiseNetwork"):
        _ = jt.infer(jt.example("asia")).array
    with pytest.raises(jt.errors.Unsupported, match="two states"):
        jt.families.ising_parameters(jt.potts((2, 2), 3, 1.0))
    with pytest.raises(jt.errors.Unsupported, match="without zeros"):
        jt.families.ising_parameters(model.clamp(np.ones((2, 2))))
