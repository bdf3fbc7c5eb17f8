"""Laws of the verbs over all supervised kinds: predictions, densities, draws, names, weights, files, refusals."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import juncture as jt
from juncture.base.dispatch import what_it_does
from juncture.base.kinds import KINDS as TABLE
from juncture.learning.fit import Fit
from support.supervised_kinds import COLUMNS, KINDS, NUM_ROWS, X

over_kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
REGRESSIONS = "juncture.supervised.regression"
SOME = np.arange(5)
DRAWS = 20_000


def frame_of(rows=X, order=COLUMNS, **more):
    return pd.DataFrame({name: rows[:, COLUMNS.index(name)] for name in order} | more)


def infer(kind, model, rows, places=SOME, **options):
    return jt.infer(model, rows, rng=0, **kind.facts_of(places), **options)


def numbers_of(beliefs):
    """(row, number): the probabilities of classes, or the moments of numbers."""
    marginal = beliefs[beliefs.variable]
    if beliefs.model.target.is_real:
        return np.stack([marginal.mean, marginal.variance], axis=-1)
    return marginal.values


def predict(kind, model, rows=X, places=slice(None), **options):
    return numbers_of(infer(kind, model, rows, places, **options))


def density(kind, model, rows=X, y=None, places=slice(None)):
    return jt.log_prob(model, rows, kind.y if y is None else y, rng=0, **kind.facts_of(places))


same = partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-13)  # but for the rounding of sums of other lengths


@over_kinds
def test_a_supervised_kind_is_a_model(kind):
    """Its variables are the inputs and the target; learning gives a Fit."""
    fitted = kind.fitted
    assert isinstance(fitted, Fit)
    model = fitted.model
    assert isinstance(model.kind, str)
    assert model.num_parameters >= 1
    assert model.variables.names == ("x0", "x1", "x2", "y")
    assert kind.named.variables.names == (*COLUMNS, "target")
    target = kind.named.target
    assert target.is_real or target.states == tuple(np.unique(kind.y).tolist())


@over_kinds
def test_log_prob_is_the_log_density_of_what_infer_gives(kind):
    model = kind.fitted.model
    scores, marginal = density(kind, model), infer(kind, model, X, slice(None))[model.target.name]
    if model.target.is_real:
        expected = marginal.log_prob(kind.y.astype(float))
    else:
        states = list(model.target.states)
        expected = np.log(marginal.values[np.arange(NUM_ROWS), [states.index(label) for label in kind.y.tolist()]])
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    if kind.is_plug_in:
        assert kind.fitted.log_likelihood == pytest.approx(scores.sum(), rel=1e-9)


@over_kinds
def test_evidence_of_a_class_is_its_log_probability(kind):
    """A table with the column of the target: of classes it is evidence, a number is refused in a sentence."""
    model, table = kind.named, frame_of(target=kind.y)
    scores = density(kind, model)
    np.testing.assert_array_equal(jt.log_prob(model, table, rng=0, **kind.facts), scores)
    np.testing.assert_array_equal(density(kind, model, table, "target"), scores)
    if model.target.is_real:
        with pytest.raises(jt.errors.Unsupported, match="which infer predicts"):
            infer(kind, model, table, slice(None))
    else:
        np.testing.assert_array_equal(infer(kind, model, table, slice(None)).log_evidence, scores)


@over_kinds
def test_draws_have_the_predicted_mean(kind):
    """Within five standard errors of 20,000 draws, in both forms: of one row, and of a table."""
    model, place = kind.named, 1
    row = dict(zip(COLUMNS, X[place].tolist(), strict=True))
    beliefs = infer(kind, model, row, place)
    marginal, averages = beliefs["target"], 0.0 if beliefs.seed is None else 2 / 1000  # of draws of coefficients, twice
    facts, many = kind.facts_of(place), kind.facts_of(np.full(DRAWS, place))
    one = jt.sample(model, DRAWS, given=row, rng=1, **facts)
    table = jt.sample(model, np.tile(X[place], (DRAWS, 1)), rng=2, **many)
    assert table.variables == tuple(model.variables)
    for drawn in (one, table):
        values = np.asarray(drawn.to_dict()["target"])
        assert values.shape == (DRAWS,)
        if model.target.is_real:
            error = np.sqrt(marginal.variance / DRAWS)
            assert values.mean() == pytest.approx(float(marginal.mean), abs=5 * error)
        else:
            for label, share in marginal.to_dict().items():
                error = np.sqrt(share * (1 - share) * (1 / DRAWS + averages))
                assert (values == label).mean() == pytest.approx(share, abs=5 * error)


@over_kinds
def test_one_row_is_a_row_of_the_table(kind):
    """As a mapping, an array and a list; of one row `log_prob` and `log_evidence` are numbers."""
    model, place = kind.named, 2
    row = dict(zip(COLUMNS, X[place].tolist(), strict=True))
    for given in (row, X[place], X[place].tolist()):
        beliefs = infer(kind, model, given, place)
        assert isinstance(beliefs.log_evidence, float)
        same(numbers_of(beliefs), predict(kind, model)[place])
        score = density(kind, model, given, kind.y.tolist()[place], place)
        assert isinstance(score, float)
        same(score, density(kind, model)[place])


@over_kinds
def test_columns_go_by_their_names(kind):
    """Frames of pandas and Polars and mappings in another order of columns give the same answers."""
    model, table = kind.named, frame_of(X[SOME], ("c", "a", "b"))
    expected = predict(kind, model)[SOME]
    for given in (table, pl.DataFrame(table.to_dict("list")), table.to_dict("list"), table.to_dict("records")):
        same(predict(kind, model, given, SOME), expected)
    same(predict(kind, model, table.assign(more=1.0), SOME, extra="ignore"), expected)
    with pytest.raises(jt.UnknownVariable, match="lack the column 'b'"):
        infer(kind, model, table[["a", "c"]])
    with pytest.raises(jt.errors.InvalidData, match="'more'"):
        infer(kind, model, table.assign(more=1.0))


@over_kinds
def test_targets_are_an_array_or_the_name_of_a_column(kind):
    """A column, wherever it stands in the table, an array, a list and a series give the same model."""
    by_column = kind.fit(frame_of(target=kind.y)[["a", "target", "b", "c"]], "target").model
    assert by_column == kind.named
    assert kind.fit(frame_of(), pd.Series(kind.y, name="target")).model == kind.named
    assert kind.fit(frame_of(), kind.y.tolist()).model == kind.named.with_target_name(None)
    assert kind.fit(X, kind.y).model == kind.named.with_target_name(None).with_feature_names(None)


@over_kinds
def test_facts_of_rows_are_numbers_or_names_of_columns(kind):
    """An offset, an exposure, trials: as a column of the table that is no input."""
    if not kind.facts:
        return
    columns = {name: f"the {name}" for name in kind.facts}
    table = frame_of(target=kind.y, w=2.0, **{f"the {name}": numbers for name, numbers in kind.facts.items()})
    plain, inputs = table.drop(columns="w"), table.drop(columns=["w", "target"])
    model = kind.fit(plain, "target", facts=columns).model
    assert model == kind.named
    np.testing.assert_array_equal(jt.log_prob(model, plain, **columns), density(kind, model))
    np.testing.assert_array_equal(numbers_of(jt.infer(model, inputs, **columns)), predict(kind, model))
    same(numbers_of(jt.infer(model, inputs.to_dict("records")[3], **columns)), predict(kind, model)[3])
    heavy = kind.fit(table, "target", facts=columns, weights="w").model
    assert heavy.feature_names == COLUMNS
    assert heavy.with_feature_names(None).with_target_name(None) == kind.fit(X, kind.y, weights=[2.0] * NUM_ROWS).model
    with pytest.raises(jt.UnknownVariable, match="names a column"):
        jt.infer(model, inputs, **dict.fromkeys(kind.facts, "the nothing"))


@over_kinds
def test_weights_are_repeated_rows(kind):
    counts = np.random.default_rng(0).integers(1, 4, NUM_ROWS)
    again = np.repeat(np.arange(NUM_ROWS), counts)
    heavy = kind.fit(X, kind.y, weights=counts)
    repeated = kind.fit(X[again], kind.y[again], facts=kind.facts_of(again))
    assert heavy.log_likelihood == pytest.approx(repeated.log_likelihood, rel=kind.tolerance)
    found, expected = (predict(kind, fit.model) for fit in (heavy, repeated))
    np.testing.assert_allclose(found, expected, rtol=10 * kind.tolerance, atol=kind.tolerance)
    by_column = kind.fit(frame_of(w=counts, target=kind.y), "target", weights="w").model
    assert by_column.feature_names == COLUMNS
    assert by_column.with_feature_names(None).with_target_name(None) == heavy.model


@over_kinds
def test_a_model_is_learned_again(kind):
    """A model in place of its class says the structure: learned from the same rows, it is the same."""
    if not isinstance(kind.start, type) or kind.start is jt.supervised.BayesianLinearRegression:
        return  # a prior, of which learning gives the posterior
    options = {name: option for name, option in kind.options.items() if name in {"penalty", "successes"}}
    assert jt.fit(kind.named, frame_of(target=kind.y), **options, **kind.facts).model == kind.named


@over_kinds
def test_what_does_not_fit_is_refused_in_a_sentence(kind):
    model = kind.named
    cases = [
        (lambda: kind.fit(X, kind.y, nonsense=1), jt.errors.Unsupported, "has no option 'nonsense'"),
        (lambda: kind.fit(X, kind.y, method="nonsense"), jt.errors.Unsupported, "no method of learning 'nonsense'"),
        (lambda: kind.fit(X, kind.y[:-1]), jt.errors.InvalidData, f"{NUM_ROWS}|{NUM_ROWS - 1}"),
        (lambda: kind.fit(X, [*kind.y.tolist()[:-1], None]), jt.errors.InvalidData, f"row {NUM_ROWS - 1}"),
        (lambda: kind.fit(X, None), jt.errors.InvalidData, "give the targets as y="),
        (lambda: kind.fit(frame_of(), "tarot"), jt.UnknownVariable, "'tarot'"),
        (lambda: kind.fit(np.full((NUM_ROWS, 3), np.nan), kind.y), jt.errors.InvalidData, "row 0, column 0"),
        (lambda: jt.infer(model, X, nonsense=1), jt.errors.Unsupported, "has no option 'nonsense'"),
        (lambda: jt.infer(model, X, method="nonsense"), jt.errors.Unsupported, "has no method 'nonsense'"),
        (lambda: infer(kind, model, X, targets=["a"]), jt.UnknownVariable, "what this model predicts"),
        (lambda: jt.log_prob(model, X, kind.y[:-1], **kind.facts), jt.errors.InvalidData, f"{NUM_ROWS - 1} targets"),
        (lambda: jt.log_prob(model, X, **kind.facts), jt.errors.InvalidData, "give the targets as y="),
        (lambda: jt.sample(model, 10), jt.errors.InvalidData, "give a table of inputs"),
        (lambda: infer(kind, model, X, slice(None))["a"], jt.UnknownVariable, "'a'"),
    ]  # fmt: skip
    for ask, error, words in cases:
        with pytest.raises(error, match=words) as caught:
            ask()
        assert "\n" not in str(caught.value)


@over_kinds
def test_files_and_pickles_keep_names_and_numbers(kind, tmp_path):
    for model in (kind.named, kind.fitted.model):
        jt.write(model, tmp_path / "model.json")
        for again in (jt.read(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):  # noqa: S301
            assert again == model
            assert (again.feature_names, again.target_name) == (model.feature_names, model.target_name)
            assert again.variables == model.variables
            np.testing.assert_array_equal(
                numbers_of(infer(kind, again, X, slice(None))), numbers_of(infer(kind, model, X, slice(None)))
            )
    assert pickle.loads(pickle.dumps(kind.fitted)) == kind.fitted  # noqa: S301


@over_kinds
def test_the_methods_that_are_listed_run(kind):
    model, found = kind.named, jt.methods(kind.named)
    assert found.names["fit"][0] == "auto"
    assert {"method", "weights"} <= set(found.options["fit"])
    assert set(found.descriptions["fit"]) >= {name for name in found.options["fit"] if name not in {"weights", "rng"}}
    for name in found.names["infer"]:
        try:
            beliefs = infer(kind, model, X, slice(None), method=name)
        except jt.errors.Unsupported as error:
            assert "take method=" in str(error)  # noqa: PT017
            continue
        assert len(beliefs) == NUM_ROWS
        assert (beliefs.seed is None) == (beliefs.method not in model.random_algorithms)
        assert len(beliefs.to_pandas()) >= NUM_ROWS
        assert "<table" in beliefs._repr_html_()


def test_every_kind_has_an_entry():
    """Each regression that `jt.fit` learns; classifiers of other forms have tests in the folders of their names."""
    named = {name: getattr(jt.supervised, name) for name, folder in TABLE.items() if folder == REGRESSIONS}
    learned = {name for name, kind in named.items() if what_it_does(jt.fit, kind) is not None}
    assert learned
    assert learned <= {type(kind.named).__name__ for kind in KINDS}


def test_a_prior_and_its_class():
    """The posterior of a prior has its log-evidence as log-likelihood; the class takes the precisions of the largest.

    With a method or an option of it, a prior gives its basis only.
    """
    kinds = {kind.name: kind for kind in KINDS}
    for name in ("conjugate, known noise", "conjugate, unknown noise"):
        kind = kinds[name]
        assert kind.fitted.model == kind.start.update(X, kind.y)
        assert kind.fitted.log_likelihood == kind.start.log_evidence(X, kind.y)
        assert kind.fitted.prior == kind.start
    best, prior, y = kinds["largest evidence"].fitted, kinds["conjugate, known noise"].start, kind.y
    same(best.model.mean, best.prior.update(X, y).mean)
    same(best.log_likelihood, best.prior.log_evidence(X, y))
    assert best.log_likelihood > prior.log_evidence(X, y)
    assert jt.fit(prior, X, y, method="evidence").model == jt.fit(prior, X, y, max_steps=1000).model == best.model
    with pytest.raises(jt.errors.InvalidData, match="a prior has its basis"):
        jt.fit(prior, X, y, basis=jt.supervised.LinearBasis())
    with pytest.raises(jt.errors.InvalidData, match="give one in place of the class"):
        jt.fit(type(prior), X, y, method="conjugate")


def test_draws_of_coefficients_and_of_rows_repeat_with_their_seed():
    kinds = {kind.name: kind for kind in KINDS}
    beliefs = jt.infer(kinds["Laplace"].named, X, method="draws", draws=50)
    again = jt.infer(kinds["Laplace"].named, X, method="draws", draws=50, rng=beliefs.seed)
    np.testing.assert_array_equal(beliefs.probabilities, again.probabilities)
    kind = kinds["GLM of Poisson"]
    first = kind.fit(X, kind.y, method=jt.StochasticGradient(learning_rate=1e-3, max_steps=30))
    assert kind.fit(X, kind.y, learning_rate=1e-3, max_steps=30, method="gradient", rng=first.seed) == first
    assert kind.fitted.seed is None
