"""Laws of approximate engines: each with every small model, compared with exact inference."""

from __future__ import annotations

import contextlib
import json
import warnings
from functools import cache

import numpy as np
import pytest

import juncture as jt
from juncture.errors import TooLarge, Unsupported
from juncture.evidence import as_findings
from juncture.inference.engines.contract import Query, Question
from juncture.inference.infer import APPROXIMATE_METHODS, EXACT_METHODS, METHODS, MODE_METHODS, SAMPLING_METHODS
from juncture.inference.messages.message_layout import MessageGraph
from support.approximate_engines import ENGINES, MODELS, WIDE_MODELS, ApproximateEngine
from support.command_line import juncture
from support.loops import loop_over

ROUNDING = 1e-10


def pairs(question):
    """Engine → (engine, model) by their names, for the engines that answer a question and the models that they take."""
    return {
        name: [(name, model) for model, small in MODELS.items() if one.takes(small.model)]
        for name, one in ENGINES.items()
        if one.answers(question)
    }


@pytest.fixture(autouse=True)
def _may_not_converge():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.NotConvergedWarning)
        yield


def ask(name, model, row, **options):
    one = ENGINES[name]
    return jt.infer(model, row, method=one.engine, rng=0, **options)


@cache
def ask_alone(engine, model, index):
    """The beliefs for a row of a model, by their names: several laws ask them."""
    return ask(engine, MODELS[model].model, MODELS[model].rows[index])


@cache
def ask_exactly(model, index):
    return jt.infer(MODELS[model].model, MODELS[model].rows[index])


def bits(beliefs):
    return [np.asarray(beliefs[name].values).tobytes() for name in beliefs] + [np.array(beliefs.log_evidence).tobytes()]


@loop_over("pair", pairs(Question.MARGINALS))
def test_marginals_are_distributions_and_exact_where_that_is_said(pair):
    engine, model = pair
    one, small = ENGINES[engine], MODELS[model]
    for index, row in enumerate(small.rows):
        beliefs, exact = ask_alone(engine, model, index), ask_exactly(model, index)
        for name in small.model.variables.names:
            values = beliefs[name].values
            assert values.min() >= 0.0
            assert values.sum() == pytest.approx(1.0, abs=1e-12)
        assert np.isfinite(beliefs.log_evidence)
        assert beliefs.exact == beliefs.diagnostics.exact
        if small.is_tree and one.is_exact_on_trees:
            assert beliefs.exact
            assert beliefs.converged
        if not row and not one.is_exact_if_small:
            assert beliefs.exact <= small.is_tree, "a graph with cycles is approximated"
        if beliefs.exact:
            assert beliefs.log_evidence == pytest.approx(exact.log_evidence, abs=ROUNDING)
            for name in small.model.variables.names:
                assert beliefs[name].values == pytest.approx(exact[name].values, abs=ROUNDING)


@loop_over("pair", {name: some for name, some in pairs(Question.MARGINALS).items() if ENGINES[name].draws})
def test_draws_are_as_near_to_the_exact_answers_as_their_standard_errors_say(pair):
    engine, model = pair
    small = MODELS[model]
    for index, row in enumerate(small.rows):
        beliefs, exact = ask_alone(engine, model, index), ask_exactly(model, index)
        if not beliefs.converged:
            continue
        for name in small.model.variables.names:
            errors = beliefs.diagnostics.standard_error(name)
            assert (np.abs(beliefs[name].values - exact[name].values) <= 5.0 * errors + ROUNDING).all(), (name, row)
        error = beliefs.diagnostics.log_evidence_error
        if error is not None:
            assert abs(beliefs.log_evidence - exact.log_evidence) <= 5.0 * error + ROUNDING


@loop_over("pair", pairs(Question.MARGINALS))
def test_bounds_hold(pair):
    engine, model = pair
    one, small = ENGINES[engine], MODELS[model]
    for index in range(len(small.rows)):
        diagnostics, log_z = ask_alone(engine, model, index).diagnostics, ask_exactly(model, index).log_evidence
        assert (diagnostics.lower is not None) >= one.has_lower
        assert (diagnostics.upper is not None) >= one.has_upper
        if diagnostics.lower is not None:
            assert diagnostics.lower <= log_z + ROUNDING
        if diagnostics.upper is not None:
            assert diagnostics.upper >= log_z - ROUNDING


@loop_over("pair", pairs(Question.MARGINALS))
def test_a_row_alone_and_among_others_on_any_number_of_threads(pair):
    engine, model = pair
    small = MODELS[model]
    many = ask(engine, small.model, list(small.rows))
    jt.set_num_threads(1)
    try:
        assert bits(ask(engine, small.model, list(small.rows))) == bits(many)
    finally:
        jt.set_num_threads(None)
    if ENGINES[engine].draws:
        return  # the draws of a row depend on the rows before
    for index in range(len(small.rows)):
        alone = ask_alone(engine, model, index)
        assert alone.log_evidence == many.log_evidence[index]
        for name in small.model.variables.names:
            assert np.array_equal(alone[name].values, many[name].values[index])


@loop_over("pair", pairs(Question.MARGINALS))
def test_joint_beliefs_agree_with_the_marginals(pair):
    engine, model = pair
    small = MODELS[model]
    beliefs = ask_alone(engine, model, 1)
    scopes = [part.scope.names for part in small.model.factors if 1 < len(part.scope) < 5][:4]
    for names in scopes if beliefs.converged and ENGINES[engine].is_consistent else ():
        joint = beliefs.joint(*names)
        for name in names:
            assert joint.marginal(name).values == pytest.approx(beliefs[name].values, abs=1e-6)


@loop_over("pair", pairs(Question.EXPECTED))
def test_expected_counts_are_those_of_the_beliefs(pair):
    engine, model = pair
    small = MODELS[model]
    parts = getattr(small.model, "conditionals", getattr(small.model, "factors", ()))
    tables = {}
    for method in (ENGINES[engine].engine, jt.JunctionTree()):
        plan = method.compile(small.model, small.model.variables.names, ())
        findings = jt.infer(small.model, list(small.rows)).findings
        answers = plan.run(small.model, Query(findings, questions=frozenset({Question.EXPECTED})))
        tables[method.name] = answers.expected(parts, np.arange(1.0, len(small.rows) + 1.0))
    mine, exact = tables.values()
    weight = sum(range(1, len(small.rows) + 1))
    for own, theirs in zip(mine, exact, strict=True):
        assert [table.shape for table in own] == [table.shape for table in theirs]
        assert [table.sum() for table in own] == pytest.approx([weight] * len(own), rel=1e-9)
        if small.is_tree and ENGINES[engine].is_exact_on_trees:
            for table, other in zip(own, theirs, strict=True):
                assert table == pytest.approx(other, abs=ROUNDING * weight)


@loop_over("pair", pairs(Question.MODE))
def test_the_assignment_has_the_value_that_is_given(pair):
    engine, model = pair
    one, small = ENGINES[engine], MODELS[model]
    for row in small.rows:
        options = {"rng": 0}
        best = jt.most_probable(small.model, row, method=one.engine, **options)
        known = jt.most_probable(small.model, row)
        full = {**{name: value for name, value in row.items() if not isinstance(value, list)}, **best.assignment}
        columns = {v.name: np.array([v.code(full[v.name])]) for v in small.model.variables}
        value = float(small.model.log_joint_of(columns)[0])
        soft = {name: value for name, value in row.items() if isinstance(value, list)}
        with np.errstate(divide="ignore"):
            value += sum(float(np.log(likelihood[columns[name][0]])) for name, likelihood in soft.items())
        assert best.log_joint == pytest.approx(value, abs=ROUNDING)
        assert best.log_joint <= known.log_joint + ROUNDING
        if best.log_prob is not None:  # log p(evidence) is exact
            assert best.log_prob == pytest.approx(value - jt.infer(small.model, row).log_evidence, abs=ROUNDING)
        if best.bound is not None:
            assert best.bound >= known.log_joint - ROUNDING
        if small.is_tree and one.is_exact_on_trees:
            assert best.exact
        if best.exact:
            assert best.log_joint == pytest.approx(known.log_joint, abs=ROUNDING)


@loop_over("pair", pairs(Question.MODE))
def test_probabilities_of_assignments_are_given_where_the_evidence_is_known_exactly(pair):
    engine, model = pair
    one, small = ENGINES[engine], MODELS[model]
    many = jt.most_probable(small.model, list(small.rows), method=one.engine, rng=0)
    is_known = ~np.isnan(many.log_prob)
    log_evidence = jt.infer(small.model, list(small.rows)).log_evidence
    assert many.log_prob[is_known] == pytest.approx((many.log_joint - log_evidence)[is_known], abs=ROUNDING)
    assert is_known.all() == (many.exact and one.answers(Question.LOG_EVIDENCE))


@loop_over("pair", pairs(Question.MARGINALS))
def test_a_budget_stops_early_and_the_engine_that_is_named_repeats_the_answer(pair):
    engine, model = pair
    small = MODELS[model]
    options = {"rng": 0}
    try:
        short = ask(engine, small.model, list(small.rows), budget=0.0)
    except TooLarge:
        return  # an engine that does not iterate refuses
    named = short.diagnostics.engine or ENGINES[engine].engine
    assert bits(jt.infer(small.model, list(small.rows), method=named, **options)) == bits(short)


@pytest.mark.parametrize("engine", [name for name, one in ENGINES.items() if one.answers(Question.MARGINALS)])
def test_impossible_evidence_is_never_exact(engine):
    one, small = ENGINES[engine], MODELS["asia"]
    if not one.takes(small.model):
        return
    beliefs = None
    with contextlib.suppress(jt.ImpossibleEvidence):
        beliefs = ask(engine, small.model, {"lung": "yes", "either": "no"})
    assert beliefs is None or not beliefs.exact


@pytest.mark.parametrize("engine", list(ENGINES))
def test_the_name_of_an_engine_is_a_method_of_the_verbs_and_the_command_line(engine):
    one = ENGINES[engine].engine
    assert type(METHODS[one.name]()) is type(one)
    assert one.name in {**APPROXIMATE_METHODS, **SAMPLING_METHODS, **MODE_METHODS}
    verb = ["query", "asia", "lung"] if Question.MARGINALS in one.answers else ["mpe", "asia"]
    if not ENGINES[engine].takes(MODELS["asia"].model):
        return
    ended = juncture(*verb, "--given", "xray=yes", "--method", one.name, "--json")
    assert json.loads(ended.out)


# --- tables over sixty powers of ten ----------------------------------------------------------------------------------

EVERY_ENGINE = {
    **{name: ApproximateEngine(make(), is_exact_on_trees=True) for name, make in EXACT_METHODS.items()},
    **ENGINES,
    "max-flow": ApproximateEngine(METHODS["max-flow"]()),
}


@pytest.mark.parametrize("engine", list(EVERY_ENGINE))
def test_what_is_said_to_be_exact_equals_the_junction_tree(engine):
    """An engine that refuses a model says nothing of it; what is exact on trees says so, or refuses their size."""
    one = EVERY_ENGINE[engine]
    too_rare = [jt.ImpossibleEvidence] if one.draws else []  # no draw agrees with the evidence
    for small in WIDE_MODELS.values():
        for row in small.rows if one.takes(small.model) else ():
            with contextlib.suppress(Unsupported, TooLarge, *too_rare):
                check_exact(one, small, row)


def test_the_law_has_every_engine():
    assert {type(make()) for make in METHODS.values()} == {type(one.engine) for one in EVERY_ENGINE.values()}


def check_exact(one, small, row):
    options = {"rng": 0}
    if one.answers(Question.MARGINALS):
        beliefs, known = jt.infer(small.model, row, method=one.engine, **options), jt.infer(small.model, row)
        assert beliefs.exact >= (small.is_tree and one.is_exact_on_trees)
        if beliefs.exact:
            assert beliefs.log_evidence == pytest.approx(known.log_evidence, abs=ROUNDING)
            for name in small.model.variables.names:
                assert beliefs[name].values == pytest.approx(known[name].values, abs=ROUNDING), name
    if one.answers(Question.MODE):
        best = jt.most_probable(small.model, row, method=one.engine, **options)
        assert best.exact >= (small.is_tree and one.is_exact_on_trees)
        if best.exact:
            assert best.log_joint == pytest.approx(jt.most_probable(small.model, row).log_joint, abs=ROUNDING)


@pytest.mark.parametrize("steps", [1, 3])
def test_messages_as_numbers_and_as_logarithms_are_the_same(monkeypatch, steps):
    """After any number of steps, also where products of numbers leave their range."""
    engine = jt.LoopyBP(schedule="flooding", max_steps=steps)
    for small in [*MODELS.values(), *WIDE_MODELS.values()]:
        for row in small.rows:
            found = []
            for holds_numbers in (True, False):
                small.model.derived.pop("message graph", None)
                monkeypatch.setattr(MessageGraph, "holds_numbers", holds_numbers)
                found.append(engine.ask(small.model, Query(as_findings(row, small.model.variables))))
            numbers, logs = found
            assert numbers.log_evidence == pytest.approx(logs.log_evidence, abs=ROUNDING)
            assert numbers.node_beliefs == pytest.approx(logs.node_beliefs, abs=ROUNDING)
