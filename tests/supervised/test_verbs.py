"""Laws of the verbs over all supervised kinds: predictions, densities, draws, names, weights, files, refusals."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

import juncture as jt
from juncture.learning.fit import Fit
from support.supervised_kinds import COLUMNS, KINDS, NUM_ROWS, SupervisedKind, X

over_kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
SOME = np.arange(5)
DRAWS = 20_000


def frame_of(rows=X, order=COLUMNS, **more):
    return pd.DataFrame({name: rows[:, COLUMNS.index(name)] for name in order} | more)


def infer(kind, model, rows, places=SOME, **options):
    return jt.infer(model, rows, rng=0, **kind.facts_of(places), **options)


def numbers_of(beliefs):
    """The predictions as one array: log-probabilities of classes, or the moments of numbers."""
    marginal = beliefs[beliefs.variable]
    return marginal.values if not beliefs.model.target.is_real else np.stack([marginal.mean, marginal.variance])


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
    scores = jt.log_prob(model, X, kind.y, rng=0, **kind.facts)
    marginal = infer(kind, model, X, slice(None))[model.target.name]
    if model.target.is_real:
        expected = marginal.log_prob(kind.y.astype(float))
    else:
        expected = np.log(
            [
                values[list(model.target.states).index(label)]
                for values, label in zip(marginal.values, kind.y.tolist(), strict=True)
            ]
        )
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    if kind.is_plug_in:
        assert kind.fitted.log_likelihood == pytest.approx(scores.sum(), rel=1e-9)


@over_kinds
def test_evidence_of_a_class_is_its_log_probability(kind):
    """A table with the column of the target: of classes it is evidence, a number is refused in a sentence."""
    model, table = kind.named, frame_of(target=kind.y)
    scores = jt.log_prob(model, X, kind.y, rng=0, **kind.facts)
    np.testing.assert_array_equal(jt.log_prob(model, table, rng=0, **kind.facts), scores)
    np.testing.assert_array_equal(jt.log_prob(model, table, "target", rng=0, **kind.facts), scores)
    if model.target.is_real:
        with pytest.raises(jt.Unsupported, match="which infer predicts"):
            infer(kind, model, table, slice(None))
    else:
        np.testing.assert_array_equal(infer(kind, model, table, slice(None)).log_evidence, scores)


@over_kinds
def test_draws_have_the_predicted_mean(kind):
    """Within five standard errors of 20,000 draws, in both forms: of one row, and of a table."""
    model, place = kind.named, 1
    row = dict(zip(COLUMNS, X[place].tolist(), strict=True))
    marginal = infer(kind, model, row, place)["target"]
    facts, many = kind.facts_of(place), kind.facts_of(np.full(DRAWS, place))
    one = jt.sample(model, DRAWS, given=row, rng=1, **facts)
    table = jt.sample(model, np.tile(X[place], (DRAWS, 1)), rng=2, **many)
    assert table.variables.names == model.variables.names
    for drawn in (one, table):
        values = np.asarray(drawn.to_dict()["target"])
        assert values.shape == (DRAWS,)
        if model.target.is_real:
            error = np.sqrt(marginal.variance / DRAWS)
            assert values.mean() == pytest.approx(float(marginal.mean), abs=5 * error)
        else:
            for label, share in marginal.to_dict().items():
                error = np.sqrt(share * (1 - share) / DRAWS)
                if isinstance(kind.fitted, Fit) and infer(kind, model, row, place).seed is not None:
                    error += 0.5 / np.sqrt(1000)  # the share itself is a mean over a thousand draws
                assert (values == label).mean() == pytest.approx(share, abs=5 * error)


@over_kinds
def test_one_row_is_a_row_of_the_table(kind):
    """As a mapping, an array and a list; of one row `log_prob` and `log_evidence` are numbers."""
    model, place = kind.named, 2
    together = (
        numbers_of(infer(kind, model, X))[..., place, :]
        if not model.target.is_real
        else numbers_of(infer(kind, model, X))[:, place]
    )
    row = dict(zip(COLUMNS, X[place].tolist(), strict=True))
    for given in (row, X[place], X[place].tolist()):
        beliefs = infer(kind, model, given, place)
        assert isinstance(beliefs.log_evidence, float)
        np.testing.assert_allclose(numbers_of(beliefs), together, rtol=1e-12)
        score = jt.log_prob(model, given, kind.y.tolist()[place], rng=0, **kind.facts_of(place))
        assert isinstance(score, float)
        assert score == pytest.approx(jt.log_prob(model, X, kind.y, rng=0, **kind.facts)[place], rel=1e-12)


@over_kinds
def test_columns_go_by_their_names(kind):
    """Frames of pandas and Polars and mappings in another order of columns give the same answers."""
    model, expected = kind.named, numbers_of(infer(kind, kind.named, X))
    table = frame_of(X[SOME], ("c", "a", "b"))
    for given in (table, pl.DataFrame(table.to_dict("list")), table.to_dict("list"), table.to_dict("records")):
        beliefs = infer(kind, model, given)
        np.testing.assert_array_equal(
            numbers_of(beliefs), expected[..., SOME, :] if not model.target.is_real else expected[:, SOME]
        )
    with pytest.raises(jt.UnknownVariable, match="lack the column 'b'"):
        infer(kind, model, table[["a", "c"]])
    with pytest.raises(jt.InvalidData, match="'more'"):
        infer(kind, model, table.assign(more=1.0))
    np.testing.assert_array_equal(
        numbers_of(infer(kind, model, table.assign(more=1.0), extra="ignore")), numbers_of(infer(kind, model, table))
    )


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
    names = dict.fromkeys(kind.facts)
    table = frame_of(target=kind.y, **{f"the {name}": numbers for name, numbers in kind.facts.items()})
    columns = {name: f"the {name}" for name in names}
    model = kind.fit(table, "target", facts=columns).model
    assert model == kind.named
    np.testing.assert_array_equal(jt.log_prob(model, table, **columns), jt.log_prob(model, X, kind.y, **kind.facts))
    inputs = table.drop(columns="target")
    np.testing.assert_array_equal(
        numbers_of(jt.infer(model, inputs, **columns)), numbers_of(infer(kind, model, X, slice(None)))
    )
    row = inputs.to_dict("records")[3]
    assert float(jt.infer(model, row, **columns)["target"].mean) == pytest.approx(
        infer(kind, model, X[3], 3)["target"].mean
    )
    heavy = kind.fit(table.assign(w=2.0), "target", facts=columns, weights="w").model
    assert heavy == kind.fit(X, kind.y, weights=np.full(NUM_ROWS, 2.0)).model.with_feature_names(
        COLUMNS
    ).with_target_name("target")
    with pytest.raises(jt.UnknownVariable, match="names a column"):
        jt.infer(model, inputs, **dict.fromkeys(kind.facts, "the nothing"))


@over_kinds
def test_weights_are_repeated_rows(kind):
    counts = np.random.default_rng(0).integers(1, 4, NUM_ROWS)
    again = np.repeat(np.arange(NUM_ROWS), counts)
    heavy = kind.fit(X, kind.y, weights=counts)
    repeated = kind.fit(X[again], kind.y[again], facts=kind.facts_of(again))
    assert heavy.log_likelihood == pytest.approx(repeated.log_likelihood, rel=kind.tolerance)
    found, expected = (numbers_of(infer(kind, fit.model, X, slice(None))) for fit in (heavy, repeated))
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
        (lambda: kind.fit(X, kind.y, nonsense=1), jt.Unsupported, "has no option 'nonsense'"),
        (lambda: kind.fit(X, kind.y, method="nonsense"), jt.Unsupported, "no method of learning 'nonsense'"),
        (lambda: kind.fit(X, kind.y[:-1]), jt.InvalidData, f"{NUM_ROWS}|{NUM_ROWS - 1}"),
        (lambda: kind.fit(X, [*kind.y.tolist()[:-1], None]), jt.InvalidData, f"row {NUM_ROWS - 1}"),
        (lambda: kind.fit(X, None), jt.InvalidData, "give the targets as y="),
        (lambda: kind.fit(frame_of(), "tarot"), jt.UnknownVariable, "'tarot'"),
        (lambda: kind.fit(np.full((NUM_ROWS, 3), np.nan), kind.y), jt.InvalidData, "row 0, column 0"),
        (lambda: jt.infer(model, X, nonsense=1), jt.Unsupported, "has no option 'nonsense'"),
        (lambda: jt.infer(model, X, method="nonsense"), jt.Unsupported, "has no method 'nonsense'"),
        (lambda: infer(kind, model, X, targets=["a"]), jt.UnknownVariable, "what this model predicts"),
        (lambda: jt.log_prob(model, X, kind.y[:-1], **kind.facts), jt.InvalidData, f"{NUM_ROWS - 1} targets"),
        (lambda: jt.log_prob(model, X, **kind.facts), jt.InvalidData, "give the targets as y="),
        (lambda: jt.sample(model, 10), jt.InvalidData, "give a table of inputs"),
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
        for again in (jt.read(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
            assert again == model
            assert (again.feature_names, again.target_name) == (model.feature_names, model.target_name)
            assert again.variables == model.variables
            np.testing.assert_array_equal(
                numbers_of(infer(kind, again, X, slice(None))), numbers_of(infer(kind, model, X, slice(None)))
            )
    assert pickle.loads(pickle.dumps(kind.fitted)) == kind.fitted


@over_kinds
def test_the_methods_that_are_listed_run(kind):
    model, found = kind.named, jt.methods(kind.named)
    assert found.names["fit"][0] == "auto"
    assert {"method", "weights"} <= set(found.options["fit"])
    assert set(found.descriptions["fit"]) >= {name for name in found.options["fit"] if name not in {"weights", "rng"}}
    for name in found.names["infer"]:
        try:
            beliefs = infer(kind, model, X, slice(None), method=name)
        except jt.Unsupported as error:
            assert "take method=" in str(error)  # noqa: PT017
            continue
        assert len(beliefs) == NUM_ROWS
        assert (beliefs.seed is None) == (name not in {"draws"} and beliefs.method != "draws")
        assert len(beliefs.to_pandas()) >= NUM_ROWS
        assert "<table" in beliefs._repr_html_()


def test_a_class_without_an_entry_is_seen():
    """Every supervised kind of `jt.fit` has an entry."""
    kinds = {type(kind.fitted.model).__name__ for kind in KINDS}
    from juncture.base.dispatch import what_it_does
    from juncture.base.kinds import kinds_with

    found = {name for name in kinds_with("verbs") if hasattr(jt.supervised, name)}
    assert {name for name in found if what_it_does(jt.fit, getattr(jt.supervised, name))} <= kinds


def test_a_prior_and_its_class():
    """The posterior of a prior has its log-evidence as log-likelihood; the class takes the precisions of the largest."""
    kinds = {kind.name: kind for kind in KINDS}
    for name in ("conjugate, known noise", "conjugate, unknown noise"):
        kind: SupervisedKind = kinds[name]
        assert kind.fitted.model == kind.start.update(X, kind.y)
        assert kind.fitted.log_likelihood == kind.start.log_evidence(X, kind.y)
        assert kind.fitted.prior == kind.start
    best = kinds["largest evidence"].fitted
    assert best.model.mean == pytest.approx(best.prior.update(X, kinds["largest evidence"].y).mean)
    assert best.log_likelihood == pytest.approx(best.prior.log_evidence(X, kinds["largest evidence"].y))
    assert best.log_likelihood >= kinds["conjugate, known noise"].fitted.log_likelihood - 5
    again = jt.fit(kinds["conjugate, known noise"].start, X, best.prior.basis(X)[:, 1], method="evidence", max_steps=5)
    assert type(again) is type(best)
