"""`log_prob`: the log-probability of each row of data, missing cells summed out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import singledispatch
from itertools import compress
from typing import Any

import numpy as np

from juncture import verbs
from juncture.base.dispatch import register
from juncture.base.methods import register_names
from juncture.data.dataset import Dataset, Extra
from juncture.data.missingness import group_by_pattern, has_hole, number_patterns
from juncture.data.sources.contract import RowSource, check_extra
from juncture.data.sources.entries import as_lazy_source
from juncture.errors import ImpossibleEvidence
from juncture.evidence import as_findings
from juncture.inference.engines.contract import DENSITIES, Engine, Query
from juncture.inference.engines.lowering import is_gaussian
from juncture.inference.engines.relevance import relevant_part
from juncture.inference.infer import (
    APPROXIMATE_METHODS,
    EXACT_METHODS,
    NETWORKS,
    REAL_METHODS,
    SAMPLING_METHODS,
    engine_for,
)
from juncture.networks.bayesian_network import BayesianNetwork, Network

MANY_PATTERNS = 32  # of holes: from here on all rows go through one run of the whole model


def log_prob_factors(model: Network, rows: Any, *, method: Any = "auto", extra: Extra = "error") -> Any:
    is_part = type(rows) is dict and 0 < len(rows) < len(model.variables)
    quick = log_prob_of_row(model, rows, method) if is_part else None
    if quick is not None:
        return quick
    source = as_lazy_source(rows, model.variables if isinstance(rows, Iterator) else None)
    if source is not None:
        return log_prob_blocks(model, source, method, extra)
    is_single = isinstance(rows, Mapping) and all(np.ndim(value) == 0 for value in rows.values())
    dataset = Dataset([dict(rows)] if is_single else rows, variables=model.variables, extra=extra)
    engine = engine_for(method, questions=DENSITIES, model=model)
    values = np.empty(len(dataset))
    known = find_known(dataset)
    if is_gaussian(model) or (is_discrete(model) and len(number_patterns(known)[0]) > MANY_PATTERNS):
        findings = as_findings(dataset, model.variables)
        values[:] = engine.ask(model, Query(findings, questions=DENSITIES)).log_evidence
    else:
        summed = [np.empty(0, np.int64)]
        for observed, indices in group_by_observed(dataset, known):
            if is_discrete(model) or is_closed(model, observed):
                part = relevant_part(model, observed)
                values[indices] = log_evidence(engine, part, dataset.take(indices), observed)
            else:
                summed.append(indices)
        rows = np.sort(np.concatenate(summed))
        if len(rows):
            findings = as_findings(dataset.take(rows), model.variables)
            values[rows] = engine.ask(model, Query(findings, questions=DENSITIES)).log_evidence
    values -= log_normalizer(model, engine)
    return float(values[0]) if is_single else values


def log_prob_of_row(model: Network, row: dict[str, Any], method: Any) -> float | None:
    """Log p of some values, the log-evidence that `infer` gives; None where the engine has no faster path for a row."""
    engine = engine_for(method, questions=DENSITIES, model=model)
    answers = engine.answer_row(model, row, ())
    return None if answers is None else float(answers.log_evidence[0]) - log_normalizer(model, engine)


def is_discrete(model: Network) -> bool:
    return not any(variable.is_real for variable in model.variables)


def log_prob_blocks(model: Network, source: RowSource, method: Any, extra: Extra) -> np.ndarray:
    """The log-probabilities of all rows of a source, one block in memory at a time."""
    check_extra(source.names, model.variables, extra)
    coded = source.coded(model.variables)
    from juncture.data.sources.contract import map_blocks

    return np.concatenate(list(map_blocks(lambda block: log_prob_factors(model, block.rows, method=method), coded)))


def find_known(dataset: Dataset) -> np.ndarray:
    """(row, variable): which cells are observed."""
    known = np.empty((len(dataset), len(dataset.columns)), bool)
    for index, column in enumerate(dataset.columns.values()):
        np.logical_not(has_hole(column), out=known[:, index])
    return known


def group_by_observed(dataset: Dataset, known: np.ndarray) -> list[tuple[frozenset[str], np.ndarray]]:
    """Rows grouped by which of their cells are observed: the names observed, and the indices of the rows."""
    return [(frozenset(compress(dataset.columns, pattern)), rows) for pattern, rows in group_by_pattern(known)]


def is_closed(model: Network, observed: frozenset[str]) -> bool:
    """Whether the probability of these variables is a product: no other is summed out."""
    if not isinstance(model, BayesianNetwork):
        return len(observed) == len(model.variables)
    return model.graph.ancestors(observed) <= observed


def log_evidence(engine: Engine, part: Any, rows: Dataset, observed: frozenset[str]) -> np.ndarray:
    """log p(observed) of rows with the same cells observed: a product where nothing is missing, else a sum."""
    if len(observed) == len(part.variables):
        return part.log_joint_of(rows.columns)
    return engine.ask(part, Query(as_findings(rows, part.variables, extra="ignore"))).log_evidence


@singledispatch
def log_normalizer(model: Network, engine: Engine) -> float:
    """Log Z of an undirected model."""
    answers = engine.answer_row(model, {}, ()) or engine.ask(model, Query(as_findings(None, model.variables)))
    log_z = float(answers.log_evidence[0])
    if log_z == -np.inf:
        raise ImpossibleEvidence("the model gives every assignment the weight zero: it has no probabilities")
    return log_z


@log_normalizer.register
def _(model: BayesianNetwork, engine: Engine) -> float:
    return 0.0


for kind in NETWORKS:
    register(verbs.log_prob, kind, log_prob_factors)
    register_names(kind, "log_prob", EXACT_METHODS | APPROXIMATE_METHODS | SAMPLING_METHODS | REAL_METHODS)
