"""`to_bayesian_network`: any model of variables with states as a Bayesian network with the same joint, from any root.

p(x) = Π cliques / Π separators: towards a root, each clique of a calibrated junction tree is left with
p(residual | separator). Variable by variable these are the buckets of an elimination that ends at the root: a bucket,
normalised over the variable that is eliminated, is p(variable | the other variables of the bucket).
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from juncture.errors import InvalidModel, Unsupported
from juncture.factors.conditional import Conditional
from juncture.inference.exact.elimination import Bucket, good_order, plan_elimination
from juncture.inference.exact.log_tables import LogFactor
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.runtime.memory import check_memory_limit
from juncture.variables import Scope


@singledispatch
def to_bayesian_network(model: Network, root: str | None = None, *, memory_limit: int | None = None) -> BayesianNetwork:
    """The same joint as a Bayesian network.

    A decomposable model keeps its edges, and gets no others. Any other model is triangulated, so that its network has
    more edges than its graph. Where the states of the parents cannot occur, the states of the child get equal
    probabilities.

    Parameters
    ----------
    model
        A Bayesian network, a Markov network or a factor graph.
    root
        The variable without parents; by default any.
    memory_limit
        In bytes; a model that needs more raises `TooLarge`. The memory is about that of exact inference.

    Returns
    -------
    BayesianNetwork

    Examples
    --------
    >>> from juncture.formats.bundled import example
    >>> chain = example("weather").to_markov_network()
    >>> print(to_bayesian_network(chain, root="X3").graph)
    X2 -> X1; X3 -> X2
    """
    raise Unsupported(f"to_bayesian_network takes a model; got {type(model).__name__}")


@to_bayesian_network.register(BayesianNetwork)
@to_bayesian_network.register(FactorProduct)
def directed_from_root(model: Network, root: str | None = None, *, memory_limit: int | None = None) -> BayesianNetwork:
    nodes = {name: node for node, name in enumerate(model.variables.names)}
    last = [] if root is None else [nodes[model.variable(root).name]]
    factors = [
        LogFactor(tuple(nodes[name] for name in factor.scope.names), factor.log_values) for factor in model.factors
    ]
    scopes = [factor.nodes for factor in factors]
    # with sizes of three or more a fill edge never pays, so that a decomposable model gets none
    order = good_order(scopes, np.maximum(model.variables.shape, 3), last)
    limit = None if memory_limit is None else check_memory_limit(memory_limit)
    elimination = plan_elimination(scopes, model.variables.shape, order=order, memory_limit=limit)
    total, buckets = elimination.run(factors, remembered=range(len(nodes)))
    if total.logs == -np.inf:
        raise InvalidModel("the model gives every assignment the weight zero: there is no joint to write as a network")
    parts = {bucket.node: conditional(bucket, model.variables) for bucket in buckets}
    return BayesianNetwork(parts[node] for node in nodes.values())


def conditional(bucket: Bucket, variables: Scope) -> Conditional:
    """The bucket over its sum, parents in the order of the model."""
    axes = np.argsort(bucket.nodes, kind="stable").astype(int)
    logs = bucket.logs.transpose([*axes, len(axes)])
    top = logs.max(axis=-1, keepdims=True)
    weights = np.exp(np.where(np.isneginf(top), 0.0, logs - np.where(np.isneginf(top), 0.0, top)))
    parents = [variables[node] for node in sorted(bucket.nodes)]
    return Conditional(variables[bucket.node], parents, weights / weights.sum(axis=-1, keepdims=True))
