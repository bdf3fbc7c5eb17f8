"""`sample`: rows drawn from a model, each variable after its parents; with evidence, from the exact posterior.

With an engine that draws (`SAMPLING_METHODS` of `infer.py`, or its object), `Draws`: (chain, draw) by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture import verbs
from juncture.base.dispatch import register
from juncture.base.methods import register_names
from juncture.base.options import as_generator, as_seed
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, TooLarge
from juncture.evidence import as_findings
from juncture.factors.conditional import Conditional
from juncture.inference.engines.beliefs import Beliefs, check_possible
from juncture.inference.engines.contract import Query, Question
from juncture.inference.engines.verb_options import BYTES_PER_CELL, DRAWS, check_num_rows
from juncture.inference.infer import (
    EXACT_METHODS,
    NETWORKS,
    REAL_METHODS,
    SAMPLING_METHODS,
    absorb_array,
    engine_for,
)
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct

if TYPE_CHECKING:
    from juncture.inference.sampling.draws import Draws

NOTHING: frozenset[Question] = frozenset()


def sample_network(
    model: BayesianNetwork, n: int, *, given: Any = None, rng: Any = None, method: Any = "auto"
) -> Dataset | Draws:
    if given is not None or method != "auto":
        return sample_posterior(model, n, given=given, rng=rng, method=method)
    seed, count = as_seed(rng), check_num_rows(n, len(model.variables))
    stream = as_generator(seed)
    tables = [part for part in model.conditionals if isinstance(part, Conditional)]
    if len(tables) == len(model.conditionals):
        return sample_tables(model, tables, count, stream).with_seed(seed)
    columns: dict[str, np.ndarray] = {}
    for name in model.graph.topological_order():
        columns[name] = model[name].sample(columns, count, stream)
    return Dataset.from_codes(model.variables, columns).with_seed(seed)


def sample_tables(model: BayesianNetwork, tables: list[Conditional], count: int, rng: np.random.Generator) -> Dataset:
    """The same by compiled code, where every conditional is a table."""
    if "forward sampler" not in model.derived:
        from juncture.inference.sampling.forward import ForwardSampler

        model.derived["forward sampler"] = ForwardSampler.of(model, tables)
    columns = model.derived["forward sampler"].draw(count, rng)
    return Dataset.from_codes(model.variables, dict(zip(model.variables.names, columns, strict=True)))


def sample_posterior(
    model: Network, n: int, *, given: Any = None, rng: Any = None, method: Any = "auto"
) -> Dataset | Draws:
    """Rows from p(all variables | evidence), drawn from the engine's answers or by the engine itself."""
    model, given = absorb_array(model, given)
    findings = as_findings(given, model.variables)
    if not findings.is_single:
        raise InvalidData("given= takes one row of evidence; sample once for each row")
    engine, seed = engine_for(method, questions=NOTHING, model=model), as_seed(rng)
    if engine.draws_itself:
        count = check_num_rows(n, len(model.variables))
        return engine.draw(model, findings, count, as_generator(seed)).with_seed(seed)
    names = tuple(model.variables.names)
    try:
        beliefs = Beliefs.of(model, engine_for(method, questions=DRAWS, model=model), Query(findings, names, DRAWS))
    except TooLarge as refusal:
        raise TooLarge(f"{refusal}; method='gibbs' draws from an approximation") from refusal
    check_possible(beliefs)
    columns = beliefs.answers.sample(check_num_rows(n, BYTES_PER_CELL * len(model.variables)), as_generator(seed))
    return Dataset.from_codes(model.variables, columns).with_seed(seed)


register(verbs.sample, BayesianNetwork, sample_network)
register(verbs.sample, FactorProduct, sample_posterior)
for kind in NETWORKS:
    register_names(kind, "sample", EXACT_METHODS | SAMPLING_METHODS | REAL_METHODS)
