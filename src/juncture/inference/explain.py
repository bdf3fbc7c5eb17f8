"""`edge_information`: the mutual information of the two ends of each edge of a model."""

from __future__ import annotations

from typing import Any

from juncture.base.checks import check_flag
from juncture.errors import Unsupported
from juncture.graphs.graph import Edge
from juncture.information.entropies import mutual_information
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import MarkovNetwork
from juncture.verbs import infer


def edge_information(
    model: BayesianNetwork | MarkovNetwork, evidence: Any = None, *, given_parents: bool = False
) -> dict[Edge, float]:
    """The mutual information, in nats, of the two ends of each edge, given one row of evidence.

    Parameters
    ----------
    model
        A Bayesian or a Markov network.
    evidence
        One row, as in `infer`.
    given_parents
        Condition on the child's other parents: the information that the arrow itself adds.

    Returns
    -------
    dict
        Edge → mutual information.

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> {edge: round(nats, 4) for edge, nats in edge_information(example("fuel")).items()}
    {('B', 'G'): 0.0587, ('F', 'G'): 0.0587}
    """
    if not isinstance(model, BayesianNetwork | MarkovNetwork):
        raise Unsupported(f"edge_information takes a Bayesian or Markov network; got {type(model).__name__}")
    check_flag(given_parents, "given_parents")
    beliefs = infer(model, evidence)
    found = {}
    for tail, head in model.graph.edges:
        others = other_parents(model, tail, head) if given_parents else []
        found[tail, head] = float(mutual_information(beliefs.joint(tail, head, *others), tail, head, given=others))
    return found


def other_parents(model: BayesianNetwork | MarkovNetwork, tail: str, head: str) -> list[str]:
    if not isinstance(model, BayesianNetwork):
        raise Unsupported("given_parents is for a Bayesian network; the edges of a Markov network have no parents")
    return [name for name in model.graph.parents(head) if name != tail]
