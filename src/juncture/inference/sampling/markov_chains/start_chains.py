"""`start_chains`: Markov chains that go on where they stopped, after an interruption or for more draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from juncture.base.checks import shown
from juncture.base.options import resolve
from juncture.errors import Unsupported
from juncture.evidence import as_findings
from juncture.inference.engines.lowering import check_factors
from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine, ChainRun
from juncture.inference.sampling.markov_chains.gibbs import Gibbs
from juncture.inference.sampling.markov_chains.metropolis import Metropolis
from juncture.inference.sampling.markov_chains.swendsen_wang import SwendsenWang
from juncture.inference.sampling.markov_chains.tempering import ParallelTempering

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

CHAINS = {engine.name: engine for engine in (Gibbs, Metropolis, SwendsenWang, ParallelTempering)}


def chain_engine(method: Any) -> ChainEngine:
    """The Markov chain engine that a name or an engine object stands for."""
    engine = resolve(method, CHAINS, what="Markov chain")
    if not isinstance(engine, ChainEngine):
        raise Unsupported(f"the method must be a Markov chain engine, such as 'gibbs'; got {shown(method)}")
    return engine


def start_chains(model: Network, given: Any = None, *, method: Any = "gibbs", rng: Any = None) -> ChainRun:
    """Start Markov chains for a model; `run.extend(draws)` lets them go on.

    An interruption, such as Ctrl-C, leaves the chains after the last round that all of them finished: call `extend`
    again. The run can be pickled, and goes on elsewhere with the same draws.

    Parameters
    ----------
    model
        A model whose variables have states.
    given
        One row of evidence.
    method
        "gibbs", "metropolis", "swendsen-wang", "parallel-tempering", or such an engine; its `draws` are not used.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    ChainRun
        With `extend(draws, budget=None)` and `draws`.

    Examples
    --------
    >>> import juncture as jt
    >>> run = jt.sampling.start_chains(jt.example("asia"), {"xray": "yes"}, rng=0)
    >>> run.extend(100)
    Draws(4 chains of 100 draws: asia, tub, smoke, lung, bronc, either, xray, dysp)
    >>> run.extend(100).num_draws
    200
    """
    check_factors(model, "start_chains")
    return chain_engine(method).start(model, as_findings(given, model.variables), rng)
