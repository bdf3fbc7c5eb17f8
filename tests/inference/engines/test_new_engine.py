"""A new engine is one class, one plan and one class of answers; then every verb takes it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

import juncture as jt
from juncture.errors import TooLarge, Unsupported
from juncture.inference.engines.contract import (
    ALL_QUESTIONS,
    Answers,
    Cost,
    Diagnostics,
    Engine,
    EnginePlan,
    Question,
    expected_from_marginals,
)
from juncture.numerics import stable
from support.learning_oracles import with_holes

# --- an engine that lists all assignments ------------------------------------------------------------------------


@dataclass(frozen=True)
class Listing(Engine):
    """Every assignment, one after the other."""

    name = "listing"
    answers = ALL_QUESTIONS

    def compile(self, model, observed=(), targets=()):
        return ListingPlan()


@dataclass(frozen=True)
class ListingPlan(EnginePlan):
    cost = Cost(0, 0.0, 0.0, 0.0)

    def run(self, model, query):
        findings = query.findings
        codes = list(product(*(range(variable.num_states) for variable in model.variables)))
        columns = {name: np.array([row[at] for row in codes]) for at, name in enumerate(model.variables.names)}
        logs = np.repeat(model.log_joint_of(columns)[None], findings.num_rows, axis=0)
        for name, column in columns.items():
            likelihood = findings.log_likelihood(name)
            logs = logs if likelihood is None else logs + likelihood[:, column]
        return ListingAnswers(model, findings, columns, logs)


@dataclass(frozen=True, eq=False)
class ListingAnswers(Answers):
    model: object
    findings: object
    columns: dict
    logs: np.ndarray  # (row, assignment)
    diagnostics = Diagnostics(exact=False, converged=False, steps=7, standard_errors={"lung": np.array([0.1, 0.1])})

    @property
    def log_evidence(self):
        return np.logaddexp.reduce(self.logs, axis=1)

    def marginal(self, names):
        table = np.zeros((len(self.logs), *(self.model.variable(name).num_states for name in names)))
        weights = np.exp(self.logs - self.log_evidence[:, None])
        np.add.at(table, (slice(None), *(self.columns[name] for name in names)), weights)
        return table

    def best(self, targets, count):
        table = stable.log(self.marginal(targets)) + self.log_evidence.reshape(-1, *[1] * len(targets))
        order = np.argsort(-table.reshape(len(table), -1), axis=1, kind="stable")[:, :count]
        codes = np.stack(np.unravel_index(order, table.shape[1:]), axis=2)
        return codes, np.take_along_axis(table.reshape(len(table), -1), order, axis=1)

    def sample(self, num_rows, rng):
        drawn = rng.choice(self.logs.shape[1], num_rows, p=np.exp(self.logs[0] - self.log_evidence[0]))
        return {name: column[drawn] for name, column in self.columns.items()}

    def expected(self, requests, weights):
        return expected_from_marginals(self, requests, weights)


# --- what it answers ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return jt.example("asia")


def test_beliefs_of_one_row_and_of_many(model):
    for evidence in ({"xray": "yes", "smoke": "no"}, [{"xray": "yes"}, {"dysp": "no", "smoke": "yes"}]):
        mine, theirs = jt.infer(model, evidence, method=Listing()), jt.infer(model, evidence)
        assert mine.log_evidence == pytest.approx(theirs.log_evidence, abs=1e-12)
        for name in model.variables.names:
            assert mine[name].values == pytest.approx(theirs[name].values, abs=1e-12)
        assert mine.joint("lung", "bronc").values == pytest.approx(theirs.joint("lung", "bronc").values, abs=1e-12)


def test_the_answer_says_how_it_was_obtained(model):
    beliefs = jt.infer(model, {"xray": "yes"}, method=Listing())
    assert (beliefs.method, beliefs.exact, beliefs.converged) == ("listing", False, False)
    assert beliefs.diagnostics.steps == 7
    assert beliefs.diagnostics.standard_error("lung").tolist() == [0.1, 0.1]
    assert repr(beliefs.diagnostics) == "Diagnostics(approximate, not converged, steps=7)"
    exact = jt.infer(model, {"xray": "yes"})
    assert repr(exact.diagnostics) == "Diagnostics(exact, converged)"
    assert (exact.exact, exact.converged, exact.diagnostics.lower) == (True, True, None)
    with pytest.raises(jt.UnknownVariable, match="no standard error for 'lung'"):
        exact.diagnostics.standard_error("lung")


def test_every_verb_takes_it(model):
    best, known = (jt.most_probable(model, {"xray": "yes"}, method=m) for m in (Listing(), "auto"))
    assert best.assignment == known.assignment
    assert best.log_joint == pytest.approx(known.log_joint, abs=1e-12)
    assert best.log_prob is None  # for the engine does not say that its log p(evidence) is exact
    rows = jt.sample(model, 2000, given={"xray": "yes"}, rng=0, method=Listing())
    share = np.mean(rows.columns["lung"] == 0)
    assert share == pytest.approx(jt.infer(model, {"xray": "yes"})["lung"].values[0], abs=0.05)
    table = [{"asia": "no", "xray": "yes"}, {"dysp": "yes"}]
    assert jt.log_prob(model, table, method=Listing()) == pytest.approx(jt.log_prob(model, table), abs=1e-12)
    plan = jt.compile(model, observed=["xray"], method=Listing())
    assert plan.run(model, {"xray": "yes"})["lung"].values == pytest.approx(
        jt.infer(model, {"xray": "yes"})["lung"].values, abs=1e-12
    )


@pytest.mark.parametrize("engine", [Listing(), "enumeration", "variable-elimination"])
def test_learning_from_rows_with_holes_by_any_engine(engine):
    model = jt.example("cancer")
    rows = with_holes(np.random.default_rng(0), jt.sample(model, 60, rng=0), 0.3)
    known, mine = (
        jt.fit(model, rows, prior=1.0, engine=e, method=jt.ExpectationMaximization(max_steps=20, tolerance=0.0))
        for e in ("auto", engine)
    )
    assert mine.trace.values == pytest.approx(known.trace.values, abs=1e-9)
    for part in known.model.conditionals:
        assert mine.model[part.child.name].values == pytest.approx(part.values, abs=1e-9)


# --- what it refuses ---------------------------------------------------------------------------------------------


class Limited(Listing):
    name = "limited"
    answers = frozenset({Question.MARGINALS, Question.LOG_EVIDENCE})


def test_a_question_that_an_engine_does_not_answer(model):
    assert jt.infer(model, {"xray": "yes"}, method=Limited())["lung"].values.sum() == pytest.approx(1.0)
    latent = [name for name in model.variables.names if name != "xray"]
    refusals = {
        "mode": lambda: jt.most_probable(model, {"xray": "yes"}, method=Limited()),
        "draws": lambda: jt.sample(model, 3, given={"xray": "yes"}, method=Limited()),
        "expected": lambda: jt.fit(model, [{"xray": "yes"}], latent=latent, engine=Limited()),
    }
    for question, ask in refusals.items():
        with pytest.raises(Unsupported, match=rf"'limited' does not answer {question}.*'junction-tree'"):
            ask()


def test_a_run_that_would_exceed_its_budget_is_refused(model):
    with pytest.raises(TooLarge, match="budget"):
        jt.most_probable(model, {"xray": "yes"}, method="exact", budget=1e-12)
    assert jt.most_probable(model, {"xray": "yes"}, budget=60).assignment


def test_an_engine_without_a_limit_of_memory_says_so(model):
    with pytest.raises(Unsupported, match="'listing' keeps to no limit of memory"):
        jt.infer(model, {"xray": "yes"}, method=Listing(), memory_limit=10**6)
