"""What a first user runs into: names that are misspelt, options of the wrong kind, rows that teach little."""

import numpy as np
import pytest

import juncture as jt
from juncture.learning.conditionals.table import NEGLIGIBLE

CHAIN = jt.DirectedGraph.parse("a -> b")
ROWS = {"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]}


def holed(model, num_rows, share=0.1):
    frame = jt.sample(model, num_rows, rng=0).to_pandas().astype(object)
    return jt.Dataset(frame.mask(np.random.default_rng(0).random(frame.shape) < share), model.variables)


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
@pytest.mark.filterwarnings("ignore::juncture.errors.UnseenParentsWarning")
def test_em_drops_what_no_row_believes_in_so_that_no_product_underflows():
    model = jt.example("alarm")
    rows = holed(model, 300)
    fitted = jt.fit(model, rows, method=jt.ExpectationMaximization(max_steps=60, tolerance=0.0))
    entries = np.concatenate([fitted.model[name].values.ravel() for name in model.graph.nodes])
    assert entries[entries > 0].min() >= NEGLIGIBLE
    assert (entries == 0).sum() > 50
    assert (np.diff(fitted.trace.values) > -1e-8).all()
    assert fitted.log_likelihood == pytest.approx(jt.log_prob(fitted.model, rows).sum(), rel=1e-12)


def test_states_of_a_class_that_no_label_shows_are_told_apart():
    rng = np.random.default_rng(0)
    group = rng.choice(3, 600, p=[0.4, 0.3, 0.3])
    chances = np.array([[0.5] * 4, [0.95] * 4, [0.05] * 4])
    answers = {f"x{place}": (rng.random(600) < chances[group, place]).astype(int) for place in range(4)}
    labels = [0 if kind == 0 else None for kind in group]
    graph = jt.DirectedGraph(("h", name) for name in answers)
    found = jt.fit(graph, {**answers, "h": labels}, variables=[jt.Variable("h", 3)], rng=0).model
    assert not np.allclose(found["x0"].values[1], found["x0"].values[2], atol=0.01)


def test_a_misspelt_column_is_found_among_those_that_are_ignored():
    rows = {"a": ROWS["a"], "bb": ROWS["b"]}
    for structure in (CHAIN, jt.fit(CHAIN, ROWS).model):
        with pytest.raises(jt.UnknownVariable, match=r"no column 'b'; did you mean 'bb'\?"):
            jt.fit(structure, rows)


@pytest.mark.parametrize("option", ["latent", "fixed"])
def test_one_name_is_not_read_letter_by_letter(option):
    model = jt.fit(CHAIN, ROWS).model
    with pytest.raises(jt.errors.InvalidData, match=rf"{option} is a list of names; write {option}=\['b'\]"):
        jt.fit(model, ROWS, **{option: "b"})


@pytest.mark.parametrize("method", [3, jt.JunctionTree(), "sgd", None])
def test_a_method_that_does_not_learn_is_refused_with_complete_rows_too(method):
    with pytest.raises(jt.errors.Unsupported, match="method of learning"):
        jt.fit(CHAIN, ROWS, method=method)


@pytest.mark.parametrize(
    ("learner", "options"),
    [
        (jt.ExpectationMaximization, {"max_steps": 1.5}),
        (jt.ExpectationMaximization, {"tolerance": "small"}),
        (jt.ExpectationMaximization, {"restarts": 0.5}),
        (jt.GradientAscent, {"max_steps": 0}),
        (jt.GradientAscent, {"tolerance": -1.0}),
    ],
)
def test_when_to_end_must_be_numbers(learner, options):
    with pytest.raises(jt.errors.InvalidData, match=next(iter(options))):
        learner(**options)


def test_progress_is_a_function():
    with pytest.raises(jt.errors.InvalidData, match="progress is a function"):
        jt.fit(CHAIN, ROWS, progress=True)


def test_lines_need_rows():
    variables = [jt.Variable("a"), jt.Variable("b")]
    with pytest.raises(jt.errors.InvalidData, match="give rows"):
        jt.fit(CHAIN, {"a": [], "b": []}, variables=variables)


def test_rows_that_a_fixed_conditional_forbids_are_warned_of():
    model = jt.fit(CHAIN, {"a": [0, 1], "b": [0, 1]}).model
    with pytest.warns(UserWarning, match="probability zero, by the conditionals .*: 'b'"):
        fitted = jt.fit(model, ROWS, fixed=["b"])
    assert fitted.log_likelihood == -np.inf


def test_whole_numbers_with_holes_that_arrive_as_floats_can_be_declared():
    rows = {"a": [0.0, 1.0, np.nan], "b": [0.0, 1.0, 1.0]}
    with pytest.warns(jt.errors.RegularizedWarning, match="the variance of 'b' has shrunk"):
        assert isinstance(jt.fit(CHAIN, rows).model["b"], jt.LinearGaussian)
    assert jt.fit(CHAIN, rows, variables=[jt.Variable("a", 2), jt.Variable("b", 2)]).trace.converged


@pytest.mark.parametrize("text", ["NA", "?", "null", " n/a "])
def test_a_cell_that_looks_like_a_hole_tells_of_markers(text):
    with pytest.raises(jt.errors.UnknownState, match="add it to `missing`"):
        jt.Dataset({"a": [text]}, [jt.Variable("a", ["x", "y"])])
