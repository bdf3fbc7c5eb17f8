"""`infer` for products of factors, and the engines by name: a new engine is one file and one line."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from juncture import verbs
from juncture.base.checks import shown
from juncture.base.dispatch import register
from juncture.base.methods import register_names
from juncture.base.options import ImportedTable, as_generator, as_names, as_seed, resolve, used_seed
from juncture.data.dataset import Extra
from juncture.data.findings import Findings
from juncture.errors import TooLarge, Unsupported, hint
from juncture.evidence import as_findings
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.contract import BELIEFS, Engine, Query, Question
from juncture.inference.engines.lowering import has_real_variables, is_gaussian
from juncture.inference.engines.verb_options import as_budget, check_policy, time_left
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.runtime.memory import check_memory_limit

EXACT_METHODS = ImportedTable(
    {
        "auto": "inference.exact.junction_tree.engine:JunctionTree",
        "exact": "inference.exact.junction_tree.engine:JunctionTree",
        "junction-tree": "inference.exact.junction_tree.engine:JunctionTree",
        "variable-elimination": "inference.exact.elimination:VariableElimination",
        "enumeration": "inference.exact.enumeration:Enumeration",
    }
)
APPROXIMATE_METHODS = ImportedTable(
    {
        "loopy": "inference.messages.loopy:LoopyBP",
        "mini-bucket": "inference.bounded.mini_bucket:MiniBucket",
        "bounded-clique-tree": "inference.bounded.bounded_clique_tree:BoundedCliqueTree",
        "tree-reweighted": "inference.messages.tree_reweighted:TreeReweighted",
        "mean-field": "inference.variational.mean_field:MeanField",
    }
)
SAMPLING_METHODS = ImportedTable(  # which take rng=
    {
        "gibbs": "inference.sampling.markov_chains.gibbs:Gibbs",
        "metropolis": "inference.sampling.markov_chains.metropolis:Metropolis",
        "swendsen-wang": "inference.sampling.markov_chains.swendsen_wang:SwendsenWang",
        "parallel-tempering": "inference.sampling.markov_chains.tempering:ParallelTempering",
        "cutset": "inference.sampling.cutset:CutsetSampling",
        "importance": "inference.sampling.importance:ImportanceSampling",
        "likelihood-weighting": "inference.sampling.likelihood_weighting:LikelihoodWeighting",
        "rejection": "inference.sampling.rejection:RejectionSampling",
    }
)
MODE_METHODS = ImportedTable(  # for most_probable alone
    {
        "max-product": "inference.messages.loopy:MaxProductBP",
        "icm": "inference.messages.icm:ICM",
        "max-flow": "inference.messages.max_flow:MaxFlow",
    }
)
METHODS = EXACT_METHODS | APPROXIMATE_METHODS | SAMPLING_METHODS | MODE_METHODS
NETWORKS = (BayesianNetwork, FactorProduct)  # whose real variables have engines of their own
REAL_METHODS = ImportedTable(  # for real variables
    {
        "gaussian-elimination": "inference.exact.gaussian.engine:GaussianElimination",
        "strong-junction-tree": "inference.exact.hybrid.engine:StrongJunctionTree",
    }
)
AUTOMATIC = frozenset({"auto", "exact"})


def engine_for(
    method: Any, memory_limit: int | None = None, questions: frozenset[Question] = BELIEFS, model: Network | None = None
) -> Engine:
    """The engine that "auto", a name or an engine object stands for, held to `memory_limit` bytes if one is given.

    "auto" and "exact" depend on the model: a network of real variables has an engine of its own.
    """
    if isinstance(method, str) and method in AUTOMATIC:
        engine = automatic_engine(model)
    else:
        engine = resolve(method, METHODS | REAL_METHODS, what="method")
        if not isinstance(engine, Engine):
            raise Unsupported(
                f"a method is the name of an engine or an engine itself; got {shown(method)}; {hint('auto', METHODS)}"
            )
    if not questions <= engine.answers:
        check_answers(engine, questions)
    if memory_limit is not None:
        check_memory_limit(memory_limit)
    return engine if memory_limit is None else engine.with_memory_limit(memory_limit)


def automatic_engine(model: Network | None) -> Engine:
    """The exact engine for a kind of model."""
    if model is not None and is_gaussian(model):
        return REAL_METHODS["gaussian-elimination"]()
    if model is not None and has_real_variables(model):
        return REAL_METHODS["strong-junction-tree"]()
    return JunctionTree()


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
    model: Network,
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
        answers = engine.answer_row(model, evidence, targets)
        if answers is not None:
            beliefs = Beliefs(model, engine, answers.targets, answers, True, answers.views, answers.marginals[0])
            check_possible(beliefs)
            return beliefs
    names, seconds = as_targets(model, targets), as_budget(budget)
    if rng is not None:
        as_generator(rng)  # which refuses what is none
    in_memory = evidence is None or isinstance(evidence, dict)
    in_blocks = not in_memory and engine.reads_sources and budget is None and not has_real_variables(model)
    findings: Findings | None = None
    if in_blocks:
        from juncture.inference.engines.source_answers import as_source_findings

        findings = as_source_findings(evidence, model.variables, extra)
    try:
        findings = findings or as_findings(evidence, model.variables, extra=extra)
        beliefs = Beliefs.of(model, engine, Query(findings, names, budget=seconds), rng)
    except TooLarge as refusal:
        if method != "auto" or not isinstance(engine, JunctionTree):
            raise
        findings = as_findings(evidence, model.variables, extra=extra)
        from juncture.inference.automatic import approximate

        left, seed = time_left(seconds, started), as_seed(rng)
        generator = as_generator(seed)
        query = Query(findings, names, rng=generator, budget=left, memory_limit=memory_limit)
        beliefs = replace(approximate(model, query, refusal), seed=used_seed(seed, generator))
    check_possible(beliefs, on_impossible)
    return beliefs


def absorb_array(model: Network, evidence: Any) -> tuple[Any, Any]:
    """A pairwise model with the states of an array multiplied into its nodes; other evidence as it is."""
    if isinstance(model, PairwiseNetwork) and isinstance(evidence, np.ndarray):
        return model.clamp(evidence), None
    return model, evidence


def as_targets(model: Network, targets: Sequence[str] | None) -> tuple[str, ...]:
    """The names asked for, each known to the model; all variables when none are named."""
    if targets is None:
        names: tuple[str, ...] = model.variables.names
        return names
    return tuple(model.variable(name).name for name in as_names(targets, "targets"))


for kind in NETWORKS:
    register(verbs.infer, kind, infer_factors)
    register_names(kind, "infer", EXACT_METHODS | APPROXIMATE_METHODS | SAMPLING_METHODS | REAL_METHODS)
