"""`Metropolis`: chains that propose a state and accept it with probability min(1, π(z) T(z, x) / (π(x) T(x, z))).

Only ratios of the product of factors are needed. By default each variable in turn is proposed another of its states,
all alike: cheaper than a Gibbs step where variables have many states, and better where it seldom stays. A model as
`proposal` draws whole assignments independently of the present one: good if that model is near the target. A user's
proposal may be anything that can be drawn and weighed. Metropolis et al. (1953); Hastings (1970).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from juncture.checks import shown
from juncture.errors import InvalidData, InvalidModel
from juncture.inference.sampling.markov_chains.block_transition import BlockTransition
from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine
from juncture.inference.sampling.markov_chains.chains import Chain, Spread, Transition
from juncture.inference.sampling.markov_chains.independence import IndependenceTransition
from juncture.inference.sampling.markov_chains.support import connecting_blocks
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.kernels.sampling.blocks import METROPOLIS
from juncture.variables import State

SINGLE = "single"
Assignment = dict[str, State]


class Proposal(Protocol):
    """T(x, z): how a user's proposal leads from an assignment of the free variables to the next."""

    def sample(self, present: Assignment, rng: np.random.Generator) -> Assignment:
        """An assignment z drawn from T(x, ·); variables that it leaves out keep their states."""

    def log_prob(self, proposed: Assignment, present: Assignment) -> float:
        """Log T(x, z), up to a constant."""


@dataclass(frozen=True)
class Metropolis(ChainEngine):
    """Metropolis-Hastings sampling.

    Parameters
    ----------
    draws, chains, warmup, thin, progress, memory_limit
        As in `Gibbs`.
    proposal
        "single": each variable in turn is proposed another state, and together those that zeros would keep in place;
        a model over the same variables, whose draws are
        proposed whatever the present state is (an independence chain); or an object with the methods
        `sample(present, rng)`, an assignment drawn from T(present, ·), and `log_prob(proposed, present)`, log T. Both
        take mappings from the names of the unobserved variables to states. A step that cannot be taken back,
        T(x, z) > 0 and T(z, x) = 0, raises `InvalidModel`.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.ising((3, 3), coupling=0.3, field=0.1)
    >>> beliefs = jt.infer(model, method=jt.Metropolis(draws=2000), rng=0)
    >>> error = abs(beliefs["x1_1"][1] - jt.infer(model)["x1_1"][1])
    >>> bool(error < 4 * beliefs.diagnostics.standard_error("x1_1")[1])
    True
    """

    proposal: Any = field(default=SINGLE)
    name: ClassVar[str] = "metropolis"

    def __post_init__(self) -> None:
        super().__post_init__()
        is_known = self.proposal == SINGLE if isinstance(self.proposal, str) else is_proposal(self.proposal)
        if not is_known:
            raise InvalidData(
                'proposal is "single", a model, or an object with the methods sample(present, rng) and'
                f" log_prob(proposed, present); got {shown(self.proposal)}"
            )

    def transition(self, model: Any, target: Target, kept_nodes: np.ndarray) -> tuple[Transition, bool | None]:
        cover = connecting_blocks(target)
        steps = BlockTransition(target, cover.blocks, kept_nodes, rule=METROPOLIS)
        if isinstance(self.proposal, str):
            return steps, cover.is_irreducible
        if hasattr(self.proposal, "variables"):
            return IndependenceTransition.of(model, target, kept_nodes, self.proposal), True
        return ProposalTransition(model, steps, self.proposal), True if not target.zero_factors else None


def is_proposal(proposal: Any) -> bool:
    """Whether an object is a model, or can be drawn from and weighed."""
    if isinstance(proposal, type):
        return False
    is_own = callable(getattr(proposal, "sample", None)) and callable(getattr(proposal, "log_prob", None))
    return is_own or (hasattr(proposal, "variables") and hasattr(proposal, "log_joint_of"))


@dataclass(frozen=True, eq=False)
class ProposalTransition:
    """Metropolis-Hastings with a user's proposal: one step a sweep."""

    model: Any
    steps: BlockTransition  # of single nodes, for the start
    proposal: Proposal

    @property
    def target(self) -> Target:
        return self.steps.target

    @property
    def work(self) -> float:
        return 1.0e4 + self.steps.work

    @property
    def num_kept(self) -> int:
        return self.steps.num_kept

    @cached_property
    def free(self) -> list[tuple[int, Any]]:
        """The unobserved variables of the model and their nodes."""
        return [(node, one) for node, one in enumerate(self.model.variables) if self.target.fixed[node] < 0]

    def start(self, rng: np.random.Generator, spread: Spread) -> np.ndarray:
        if self.target.arrays.num_nodes > len(self.model.variables):
            raise InvalidModel(
                "a user's proposal takes models whose conditionals are tables; this one has hidden variables: use"
                ' proposal="single"'
            )
        return self.steps.start(rng, spread)

    def advance(self, chain: Chain, num_sweeps: int, kept: np.ndarray) -> None:
        thin = num_sweeps // len(kept) if len(kept) else num_sweeps
        log_present = self.target.log_joint(chain.codes)
        for sweep in range(num_sweeps):
            codes, log_ratio = self.propose(chain.codes, chain.rng)
            log_proposed = self.target.log_joint(codes)
            uniform = chain.rng.random()
            if np.log(max(uniform, 1e-300)) < log_proposed - log_present + log_ratio:
                chain.codes[:], log_present = codes, log_proposed
            if len(kept) and (sweep + 1) % thin == 0:
                kept[sweep // thin] = chain.codes[self.steps.kept_nodes]

    def propose(self, codes: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
        """The codes of a proposed state z, and log T(z, x) - log T(x, z)."""
        present = self.decode(codes)
        proposed = {**present, **self.proposal.sample(dict(present), rng)}
        forward = float(self.proposal.log_prob(dict(proposed), dict(present)))
        backward = float(self.proposal.log_prob(dict(present), dict(proposed)))
        if not forward > -np.inf:
            raise InvalidModel(f"the proposal drew {proposed} from {present}, but its log_prob of that is {forward:g}")
        if not backward > -np.inf:
            raise InvalidModel(
                f"the proposal leads from {present} to {proposed} and never back: T(x, z) > 0 needs T(z, x) > 0"
            )
        return self.encode(proposed, codes), backward - forward

    def decode(self, codes: np.ndarray) -> Assignment:
        return {variable.name: variable.labels[codes[node]] for node, variable in self.free}

    def encode(self, assignment: Assignment, codes: np.ndarray) -> np.ndarray:
        found = codes.copy()
        unknown = set(assignment) - {variable.name for _, variable in self.free}
        if unknown:
            raise InvalidData(f"the proposal names {min(unknown)!r}, which is observed or no variable")
        for node, variable in self.free:
            found[node] = variable.code(assignment[variable.name])
        return found
