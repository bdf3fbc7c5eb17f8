"""`posterior`: the posterior of every table, a Dirichlet for each combination of parents' states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import Conditional, signature
from juncture.learning.conditionals.table import prior_of, pseudo_counts
from juncture.learning.networks.estimation import pool_statistics, resolve_prior, resolve_template
from juncture.learning.networks.statistics import NetworkStatistics

if TYPE_CHECKING:
    from juncture.families.vectors.dirichlet import Dirichlet


def posterior(structure: Any, statistics: NetworkStatistics, prior: Any = 1.0) -> dict[str, Dirichlet]:
    """The posterior of every table.

    Parameters
    ----------
    structure
        A `BayesianNetwork` of tables or a `DirectedGraph`.
    statistics
        The counts of complete rows, `jt.statistics(structure, data)`.
    prior
        A pseudo-count per cell, `BDeu`, `K2`, a `Dirichlet`, or a mapping from child to one of these. Each cell needs a
        positive count of rows and prior together.

    Returns
    -------
    For each child a batch of Dirichlets in the shape of the parents' states.

    Examples
    --------
    >>> import juncture as jt
    >>> graph, rows = jt.DirectedGraph.parse("a -> b"), {"a": [0, 0, 1], "b": [0, 1, 1]}
    >>> jt.posterior(graph, jt.statistics(graph, rows))["a"]
    Dirichlet(concentration=[3.0, 2.0])
    """
    from juncture.families.vectors.dirichlet import Dirichlet

    template = resolve_template(structure, statistics)
    given, parts = resolve_prior(prior, template), pool_statistics(template, statistics)
    found = {}
    for conditional in template.conditionals:
        name = conditional.child.name
        if not isinstance(conditional, Conditional):
            raise Unsupported(f"only tables have Dirichlet posteriors; {signature(conditional)} is no table")
        own = prior_of(given, name)
        counts = parts[name].counts + (
            0.0 if own is None else pseudo_counts(own, conditional.child, conditional.parents)
        )
        if not (counts > 0).all():
            raise InvalidData(
                f"the posterior of {name!r} is no Dirichlet, as a cell has neither rows nor a prior count:"
                " give it a positive prior"
            )
        found[name] = Dirichlet(counts)
    return found
