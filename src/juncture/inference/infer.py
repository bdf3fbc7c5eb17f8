"""`infer` for products of factors, and the engines by name: a new engine is one file and one line."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from juncture.checks import shown
from juncture.data.dataset import Extra
from juncture.errors import TooLarge, Unsupported, hint
from juncture.evidence import as_findings
from juncture.inference.approximation import Query, approximate
from juncture.inference.bounded.bounded_clique_tree import BoundedCliqueTree
from juncture.inference.bounded.mini_bucket import MiniBucket
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.contract import BELIEFS, Engine, Question
from juncture.inference.engines.options import as_budget, check_policy, time_left
from juncture.inference.exact.elimination.engine import VariableElimination
from juncture.inference.exact.enumeration import Enumeration
from juncture.inference.exact.gaussian.engine import GaussianElimination
from juncture.inference.exact.gaussian.systems import is_gaussian
from juncture.inference.exact.hybrid.engine import StrongJunctionTree, has_real_variables
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.messages.icm import ICM
from juncture.inference.messages.loopy import LoopyBP, MaxProductBP
from juncture.inference.messages.max_flow import MaxFlow
from juncture.inference.messages.tree_reweighted import TreeReweighted
from juncture.inference.sampling.cutset import CutsetSampling
from juncture.inference.sampling.importance import ImportanceSampling
from juncture.inference.sampling.likelihood_weighting import LikelihoodWeighting
from juncture.inference.sampling.markov_chains.gibbs import Gibbs
from juncture.inference.sampling.markov_chains.metropolis import Metropolis
from juncture.inference.sampling.markov_chains.swendsen_wang import SwendsenWang
from juncture.inference.sampling.markov_chains.tempering import ParallelTempering
from juncture.inference.sampling.rejection import RejectionSampling
from juncture.inference.source_answers import SourceAnswers, as_evidence_source
from juncture.inference.variational.mean_field import MeanField
from juncture.memory import check_memory_limit
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.options import as_generator, as_names, resolve

EXACT_METHODS: dict[str, Callable[[], Engine]] = {
    "auto": JunctionTree,
    "exact": JunctionTree,
    "junction-tree": JunctionTree,
    "variable-elimination": VariableElimination,
    "enumeration": Enumeration,
}
APPROXIMATE_METHODS: dict[str, Callable[[], Engine]] = {
    "loopy": LoopyBP,
    "mini-bucket": MiniBucket,
    "bounded-clique-tree": BoundedCliqueTree,
    "tree-reweighted": TreeReweighted,
    "mean-field": MeanField,
}
SAMPLING_METHODS: dict[str, Callable[[], Engine]] = {  # which take rng=
    "gibbs": Gibbs,
    "metropolis": Metropolis,
    "swendsen-wang": SwendsenWang,
    "parallel-tempering": ParallelTempering,
    "cutset": CutsetSampling,
    "importance": ImportanceSampling,
    "likelihood-weighting": LikelihoodWeighting,
    "rejection": RejectionSampling,
}
MODE_METHODS: dict[str, Callable[[], Engine]] = {  # for most_probable alone
    "max-product": MaxProductBP,
    "icm": ICM,
    "max-flow": MaxFlow,
}
METHODS = {**EXACT_METHODS, **APPROXIMATE_METHODS, **SAMPLING_METHODS, **MODE_METHODS}
REAL_METHODS: dict[str, Callable[[], Engine]] = {  # for real variables
    "gaussian-elimination": GaussianElimination,
    "strong-junction-tree": StrongJunctionTree,
}
AUTOMATIC = frozenset({"auto", "exact"})
GAUSSIAN, HYBRID = GaussianElimination(), StrongJunctionTree()


def engine_for(
    method: Any, memory_limit: int | None = None, questions: frozenset[Question] = BELIEFS, model: Any = None
) -> Engine:
    """The engine that "auto", a name or an engine object stands for, held to `memory_limit` bytes if one is given.

    "auto" and "exact" depend on the model: a network of real variables has an engine of its own.
    """
    is_automatic = isinstance(method, str) and method in AUTOMATIC
    if is_automatic and model is not None and is_gaussian(model):
        engine: Engine = GAUSSIAN
    elif is_automatic and model is not None and has_real_variables(model):
        engine = HYBRID
    else:
        engine = resolve(method, METHODS if is_automatic else {**METHODS, **REAL_METHODS}, what="method")
    if not hasattr(engine, "compile"):
        raise Unsupported(
            f"a method is the name of an engine or an engine itself; got {shown(method)}; {hint('auto', METHODS)}"
        )
    if not questions <= engine.answers:
        check_answers(engine, questions)
    if memory_limit is not None:
        check_memory_limit(memory_limit)
    return engine if memory_limit is None else engine.with_memory_limit(memory_limit)


def check_answers(engine: Engine, questions: frozenset[Question]) -> None:
    """Raise `Unsupported` for an engine that cannot be asked one of the questions, with the names of those that can."""
    missing = sorted(questions - engine.answers)
    if missing:
        verb = f"; {engine.name!r} is an engine of most_probable" if engine.answers == {Question.MODE} else ""
        able = {make().name for make in METHODS.values() if questions <= make().answers}  # which take any states
        raise Unsupported(
            f"the engine {engine.name!r} does not answer {missing[0]}; method= one of"
            f" {', '.join(map(repr, sorted(able)))} does{verb}"
        )


def infer_factors(  # noqa: PLR0913 (one verb, many options)
    model: Any,
    evidence: Any = None,
    *,
    targets: Sequence[str] | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    extra: Extra = "error",
    memory_limit: int | None = None,
    budget: float | None = None,
    rng: Any = None,
) -> Beliefs:
    started = time.monotonic()
    check_policy(on_impossible)
    engine = engine_for(method, memory_limit, model=model)
    model, evidence = absorb_array(model, evidence)
    if type(evidence) is dict and budget is None:
        answers = engine.answer_row(model, evidence, targets) if hasattr(engine, "answer_row") else None
        if answers is not None:
            beliefs = Beliefs(model, engine, answers.targets, answers, True, answers.views, answers.marginals[0])
            check_possible(beliefs)
            return beliefs
    names, seconds = as_targets(model, targets), as_budget(budget)
    is_exact = isinstance(engine, JunctionTree) and budget is None and not has_real_variables(model)
    source = as_evidence_source(evidence, model.variables, extra) if is_exact else None
    try:
        if source is not None:
            beliefs = Beliefs(model, engine, names, SourceAnswers.of(model, engine, source, names), is_single=False)
        else:
            findings = as_findings(evidence, model.variables, extra=extra)
            beliefs = Beliefs.of(model, engine, findings, names, budget=seconds, rng=rng)
    except TooLarge as refusal:
        if method != "auto" or not isinstance(engine, JunctionTree):
            raise
        findings = as_findings(evidence, model.variables, extra=extra)
        query = Query(model, findings, names, None if rng is None else as_generator(rng), memory_limit)
        beliefs = approximate(query, refusal, time_left(seconds, started))
    check_possible(beliefs, on_impossible)
    return beliefs


def absorb_array(model: Any, evidence: Any) -> tuple[Any, Any]:
    """A pairwise model with the states of an array multiplied into its nodes; other evidence as it is."""
    is_array = isinstance(evidence, np.ndarray) and isinstance(model, PairwiseNetwork)
    return (model.clamp(evidence), None) if is_array else (model, evidence)


def as_targets(model: Any, targets: Sequence[str] | None) -> tuple[str, ...]:
    """The names asked for, each known to the model; all variables when none are named."""
    if targets is None:
        names: tuple[str, ...] = model.variables.names
        return names
    return tuple(model.variable(name).name for name in as_names(targets, "targets"))
