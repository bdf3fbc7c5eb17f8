"""`posterior`: what the data leave uncertain of every table, as a Dirichlet for each combination of parents' states."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from juncture.errors import InvalidData, Unsupported
from juncture.factors.conditional import Conditional, signature
from juncture.learning.conditionals.table import prior_of, pseudo_counts
from juncture.learning.networks.estimation import checked_prior, pooled, template_for
from juncture.learning.networks.statistics import NetworkStatistics

if TYPE_CHECKING:
    from juncture.families.vectors.dirichlet import Dirichlet


def posterior(structure: Any, statistics: NetworkStatistics, prior: Any = 1.0) -> dict[str, Dirichlet]:
    """The posterior of every table by child: a batch of Dirichlets of the shape of the parents' states.

    The prior is a pseudo-count per cell, `BDeu`, `K2`, `Dirichlet`, or a mapping from child to these; each must leave
    every cell a positive count.
    """
    from juncture.families.vectors.dirichlet import Dirichlet

    template = template_for(structure, statistics)
    given, parts = checked_prior(prior, template), pooled(template, statistics)
    found = {}
    for conditional in template.conditionals:
        name = conditional.child.name
        if not isinstance(conditional, Conditional):
            raise Unsupported(f"the posterior of tables is told by Dirichlets; {signature(conditional)} is none")
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
